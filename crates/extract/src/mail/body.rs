//! The text of a message: its plain part or its page, and the events that it invites to.

use std::collections::HashSet;

use mail_parser::{Message, MessagePart, MimeHeaders, PartType};

use super::{calendar, decoded};
use crate::{
    ExtractError,
    content::{Content, deeper},
    html,
};

/// Fewest words of a page that the plain part lacks, and their share of its words, in per cent, from which the page is read: the
/// plain part only says that there is one, or lacks its tables.
const FEWEST_LACKING: usize = 4;
const LACKING_SHARE: usize = 25;

/// Adds the text of a message.
pub(super) fn write(message: &Message<'_>, content: &mut Content) -> Result<(), ExtractError> {
    let parts: Vec<&MessagePart<'_>> =
        if page_tells_more(message)? { message.html_bodies().collect() } else { message.text_bodies().collect() };
    for part in parts {
        match &part.body {
            PartType::Text(text) => content.block(&decoded(message, part, text).replace("\r\n", "\n"))?,
            PartType::Html(page) => write_page(&decoded(message, part, page), content)?,
            PartType::Binary(_) | PartType::InlineBinary(_) | PartType::Message(_) | PartType::Multipart(_) => {}
        }
    }
    for part in &message.parts {
        if let PartType::Text(text) = &part.body
            && is_invitation(part)
        {
            calendar::events(text).iter().try_for_each(|event| content.block(event))?;
        }
    }
    Ok(())
}

fn write_page(page: &str, content: &mut Content) -> Result<(), ExtractError> {
    // The title of the page is not that of the message.
    let title = content.title.take();
    let before = content.headings.len();
    html::page(page, content)?;
    content.title = title;
    // They stand below the subject.
    content.headings.iter_mut().skip(before).for_each(|heading| heading.level = deeper(heading.level));
    Ok(())
}

/// Whether a part is an event in the message, not a file.
fn is_invitation(part: &MessagePart<'_>) -> bool {
    let is_calendar = part.content_type().is_some_and(|kind| {
        kind.ctype().eq_ignore_ascii_case("text")
            && kind.subtype().is_some_and(|subtype| subtype.eq_ignore_ascii_case("calendar"))
    });
    is_calendar && !part.content_disposition().is_some_and(mail_parser::ContentType::is_attachment)
}

/// Whether the page of a message has much that its plain part lacks.
fn page_tells_more(message: &Message<'_>) -> Result<bool, ExtractError> {
    let mut plain = HashSet::new();
    for part in message.text_bodies() {
        match &part.body {
            PartType::Text(text) => plain.extend(words(text)),
            _ => return Ok(false),
        }
    }
    let mut page = Content::default();
    for part in message.html_bodies() {
        if let PartType::Html(html) = &part.body {
            html::page(html, &mut page)?;
        }
    }
    let told: HashSet<String> = words(&page.text).collect();
    let lacking = told.difference(&plain).count();
    Ok(lacking >= FEWEST_LACKING && lacking * 100 >= told.len() * LACKING_SHARE)
}

fn words(text: &str) -> impl Iterator<Item = String> {
    text.split(|sign: char| !sign.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_lowercase)
}
