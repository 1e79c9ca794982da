//! Documents that were found in a message, as items of the job that brought the message.

use serde_json::Value;

use super::{
    document::Described,
    work::{Upload, Work},
};
use crate::{
    extract::Attachment,
    store::{AttachedTo, NewJobItem, Phase},
};

/// Member of the metadata that names the source of the message.
const ATTACHED_TO: &str = "attached_to";
/// Member of the metadata that names the file.
const FILE_NAME: &str = "file_name";

/// The item for a document that was found in a message. It has the message's URI and metadata, and says where it was
/// found; its source is that of the message with its name below it.
pub(super) fn attached_item(message: &Described, attachment: Attachment) -> NewJobItem {
    let Attachment { name, media_type, content } = attachment;
    let origin = &message.origin;
    let mut metadata = origin.metadata.clone();
    if let Value::Object(members) = &mut metadata {
        members.insert(ATTACHED_TO.to_owned(), origin.source.clone().into());
        members.insert(FILE_NAME.to_owned(), name.as_str().into());
    }
    let upload = Upload {
        uri: origin.uri.clone(),
        title: None,
        media_type,
        metadata,
        loader: origin.loader.clone(),
        attached_to: Some(AttachedTo { source: origin.source.clone(), content_hash: message.content_hash }),
    };
    NewJobItem {
        source: format!("{}/{name}", origin.source),
        payload: Work::Upload(upload).store(),
        content: content.into(),
        phase: Phase::Store,
        // A new document has the list of the message that it was found in.
        acl: None,
    }
}
