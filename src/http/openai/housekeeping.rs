//! Prompts of chat front ends: those by which they have a model name conversations and propose what to ask next, and
//! those in which they wrap the question of a person.
//!
//! The former arrive as ordinary questions, several for each that a person asks. No document answers them: they are replied
//! to by rule, without a search, a model call or a record in the audit.

use serde_json::json;

/// First line of such prompts of Open WebUI.
const TASK: &str = "### Task:";
/// Where the prompt quotes the conversation.
const HISTORY: &str = "<chat_history>";
/// Where a prompt that asks for an answer ends its passages of files that are attached in the front end.
const END_OF_CONTEXT: &str = "</context>";
/// Around the question in older prompts of that kind; newer ones end with the question.
const QUERY: [&str; 2] = ["<user_query>", "</user_query>"];
/// Words that a title has at most.
const TITLE_WORDS: usize = 6;
/// Title of a conversation without a question.
const NO_TITLE: &str = "Questions";

/// The reply to a prompt that is no question of a person, in the JSON that it asks for; `None` for any other message.
pub(super) fn reply_to(message: &str) -> Option<String> {
    let prompt = message.trim_start();
    if !prompt.starts_with(TASK) {
        return None;
    }
    let (instructions, history) = prompt.split_once(HISTORY).unwrap_or((prompt, ""));
    let wants = |member: &str| instructions.contains(&format!("\"{member}\""));
    let reply = if wants("title") {
        json!({"title": title(history)})
    } else if let Some(list) = ["follow_ups", "tags", "queries"].into_iter().find(|list| wants(list)) {
        json!({list: []})
    } else if wants("text") {
        json!({"text": ""})
    } else {
        return None;
    };
    Some(reply.to_string())
}

/// The question of a person in a prompt that asks to answer it from passages of files attached in the front end; any other
/// message as it is. The passages are no sources: they are in none of the collections that are asked.
pub(super) fn question_in(message: &str) -> &str {
    if !message.trim_start().starts_with(TASK) {
        return message;
    }
    let Some((_, question)) = message.rsplit_once(END_OF_CONTEXT) else { return message };
    let [begin, end] = QUERY;
    let question = question.split_once(begin).map_or(question, |(_, query)| query.split(end).next().unwrap_or(query));
    let question = question.trim();
    if question.is_empty() { message } else { question }
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
        let completion = "### Task:\nComplete the text.\n### Output:\n{ \"text\": \"…\" }\n<text>Who</text>";
        assert_eq!(reply_to(completion), Some("{\"text\":\"\"}".to_owned()));
    }

    #[test]
    fn a_question_is_none() {
        assert_eq!(reply_to("What is the task of the \"title\" role?"), None);
        assert_eq!(reply_to("### Task:\nWhich form do I hand in?"), None);
    }

    #[test]
    fn a_question_is_taken_out_of_its_prompt() {
        let prompt =
            "### Task:\nRespond by the context.\n<context>\n<source id=\"1\">a </context> b</source>\n</context>\n\n";
        assert_eq!(question_in(&format!("{prompt}Who signs?\n")), "Who signs?");
        assert_eq!(question_in(&format!("{prompt}<user_query>\nWho signs?\n</user_query>\n")), "Who signs?");
        assert_eq!(reply_to(&format!("{prompt}Who signs?")), None);
        for whole in [prompt, "What does </context> end?", "### Task:\nWho signs?"] {
            assert_eq!(question_in(whole), whole);
        }
    }
}
