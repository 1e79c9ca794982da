//! The ask loop over HTTP: answers, refusals, abstentions, and their record.

mod audit;
mod budget;
mod built_in;
mod cache;
mod check;
mod citations;
mod conversation;
mod corrective;
mod evidence;
mod exempt;
mod failures;
mod instructions;
mod judges;
mod neighbours;
mod non_answer;
mod options;
mod passages;
mod plan;
mod processes;
mod refine;
mod speculation;
pub(crate) mod stream;
mod stream_cuts;
mod tables;
mod unknown_words;
mod verify;
mod web;
