//! Prompts by which chat front ends have a model name conversations and propose what to ask next.
//!
//! They arrive as ordinary questions, several for each that a person asks. No document answers them: they are replied to
//! by rule, without a search, a model call or a record in the audit.

use serde_json::json;

/// First line of such prompts of Open WebUI.
const TASK: &str = "### Task:";
/// Where the prompt quotes the conversation.
const HISTORY: &str = "<chat_history>";
/// Words that a title has at most.
const TITLE_WORDS: usize = 6;
/// Title of a conversation without a question.
const NO_TITLE: &str = "Questions";

/// The reply to such a prompt, in the JSON that it asks for; `None` for any other message.
pub(super) fn reply_to(message: &str) -> Option<String> {
    let prompt = message.trim_start();
    if !prompt.starts_with(TASK) {
        return None;
    }
    let (instructions, history) = prompt.split_once(HISTORY).unwrap_or((prompt, ""));
    let wants = |member: &str| instructions.contains(&format!("\"{member}\""));
    let reply = if wants("title") {
        json!({"title": title(history)})
    } else if wants("follow_ups") {
        json!({"follow_ups": []})
    } else if wants("tags") {
        json!({"tags": []})
    } else if wants("queries") {
        json!({"queries": []})
    } else {
        json!({"text": ""})
    };
    Some(reply.to_string())
}

/// The first words of the first question.
fn title(history: &str) -> String {
    let question = history.lines().find_map(|line| line.trim().strip_prefix("USER:")).unwrap_or_default();
    let words: Vec<&str> = question.split_whitespace().take(TITLE_WORDS + 1).collect();
    let (shown, rest) = words.split_at(words.len().min(TITLE_WORDS));
    if shown.is_empty() {
        return NO_TITLE.to_owned();
    }
    shown.join(" ") + if rest.is_empty() { "" } else { "…" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_is_the_question() {
        let prompt = "### Task:\nGenerate a concise title.\n### Output:\nJSON format: { \"title\": \"your title\" }\n### Chat History:\n<chat_history>\nUSER: How many days of paid leave do I have?\nASSISTANT: 28. [1]\n</chat_history>";
        assert_eq!(reply_to(prompt).as_deref(), Some("{\"title\":\"How many days of paid leave…\"}"));
    }

    #[test]
    fn other_tasks_get_nothing_in_their_form() {
        for member in ["follow_ups", "tags", "queries"] {
            let prompt =
                format!("### Task:\nSuggest.\n### Output:\n{{ \"{member}\": [\"a\"] }}\n<chat_history>\n\"title\"");
            assert_eq!(reply_to(&prompt), Some(format!("{{\"{member}\":[]}}")));
        }
        assert_eq!(reply_to("### Task:\nComplete the sentence."), Some("{\"text\":\"\"}".to_owned()));
    }

    #[test]
    fn a_question_is_none() {
        assert_eq!(reply_to("What is the task of the \"title\" role?"), None);
    }
}
