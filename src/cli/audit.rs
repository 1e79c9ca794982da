//! `cited audit`: proves the record of a running service over its API.

use anyhow::bail;
use clap::{Args, Subcommand};
use serde_json::Value;

use super::{
    service_call::{Target, encoded, items, number, text},
    wording::counted,
};
use crate::config::Config;

/// Arguments of `cited audit`.
#[derive(Debug, Args)]
pub(super) struct Arguments {
    #[command(subcommand)]
    action: Action,
    #[command(flatten)]
    target: Target,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Say whether any security event was changed, deleted or added; ends with 1 if so.
    Verify {
        /// Head that an earlier verification printed: the record is held against it too.
        #[arg(long, value_name = "NUMBER:CODE")]
        noted: Option<String>,
        /// The record of what concerns no tenant; needs a key of `CITED_API_KEYS`.
        #[arg(long)]
        deployment: bool,
    },
}

/// Calls the service and prints what it answers.
pub(super) async fn run(config: &Config, arguments: &Arguments) -> anyhow::Result<()> {
    let Arguments { action: Action::Verify { noted, deployment }, target } = arguments;
    let noted = noted.as_deref().map(|noted| format!("&noted={}", encoded(noted))).unwrap_or_default();
    let path = format!("/v1/security-events/verification?deployment={deployment}{noted}");
    let state = target.call(config, async |client| client.get(&path).await, readable).await?;
    if state.get("whole") != Some(&Value::Bool(true)) {
        bail!("the record of security events is not whole");
    }
    Ok(())
}

fn readable(state: &Value) -> String {
    let fault = |fault: &Value| format!("seal {}: {}\n", number(fault, "seal"), text(fault, "fault"));
    let faults: String = items(state, "faults").iter().map(fault).collect();
    let [events, seals, waiting] = ["events", "seals", "waiting"].map(|name| number(state, name));
    let whole = match state.get("whole") {
        Some(Value::Bool(true)) => "The record is whole: none of these events was changed, deleted or added.\n",
        _ => "",
    };
    let (events, seals) = (counted(events, "event"), counted(seals, "seal"));
    format!("{events} in {seals}, {waiting} not sealed yet\nhead {}\n{whole}{faults}", text(state, "head"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn faults_are_listed_below_the_head() {
        let state =
            json!({"events": 3, "seals": 2, "waiting": 1, "head": "2:ab", "faults": [{"seal": 2, "fault": "lost"}]});
        assert_eq!(readable(&state), "3 events in 2 seals, 1 not sealed yet\nhead 2:ab\nseal 2: lost\n");
        let whole = json!({"whole": true, "events": 1, "seals": 1, "waiting": 0, "head": "1:ab", "faults": []});
        let told = "The record is whole: none of these events was changed, deleted or added.\n";
        assert_eq!(readable(&whole), format!("1 event in 1 seal, 0 not sealed yet\nhead 1:ab\n{told}"));
    }
}
