//! How long the service takes to say that there is nothing: of what another tenant has, or what is hidden from the asker, and
//! of what nobody has.

use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use hyper::{Method, StatusCode};
use serde_json::{Value, json};
use uuid::Uuid;

use super::{Target, ask_in};
use crate::{asks::percentile_ms, client::Client, random::Random, service::OPERATOR, single::UPLOAD};

const PAIRS: usize = 1_000;
const SEED: u64 = 404;
/// Standard deviations that chance does not make twice in the same direction.
const TOO_FAR: f64 = 4.0;

/// A kind of thing that is asked for, by the key of somebody who may not see it.
struct Thing {
    name: &'static str,
    key: String,
    /// Name or id of what is there, and one like it of what is not.
    there: String,
    nothing: String,
    ask: fn(&str) -> (Method, String, Option<Value>),
}

/// Times of both kinds of requests for one kind of thing.
pub(super) struct Probed {
    thing: &'static str,
    /// Ascending.
    of_another: Vec<Duration>,
    of_nothing: Vec<Duration>,
}

fn get(path: String) -> (Method, String, Option<Value>) {
    (Method::GET, path, None)
}

fn citation(document: &str) -> (Method, String, Option<Value>) {
    get(format!("/v1/citations/cited%3Ac%2F{document}%401%230"))
}

fn page(document: &str) -> (Method, String, Option<Value>) {
    get(format!("/c/cited%3Ac%2F{document}%401%230"))
}

/// An id as old as the other one.
fn beside(id: &str) -> anyhow::Result<String> {
    Ok(Uuid::from_u128(id.parse::<Uuid>()?.as_u128() ^ 1).to_string())
}

fn text<'v>(value: &'v Value, pointer: &str) -> anyhow::Result<&'v str> {
    value.pointer(pointer).and_then(Value::as_str).with_context(|| format!("{pointer} is missing in {value}"))
}

/// Makes what is asked for.
async fn things(target: &Target) -> anyhow::Result<Vec<Thing>> {
    let mut operator = Client::connect(target.address).await?.with_key(OPERATOR);
    let mut key = async |tenant: &str, wanted: Value| {
        let made = operator.json(Method::POST, &format!("/v1/tenants/{tenant}/keys"), Some(&wanted)).await?;
        anyhow::Ok((text(&made, "/secret")?.to_owned(), text(&made, "/key/id")?.to_owned()))
    };
    let (attacker, _) = key(&target.tenants[0], json!({"name": "admin", "scopes": ["admin"]})).await?;
    let (owner, key_id) = key(&target.tenants[1], json!({"name": "admin", "scopes": ["admin"]})).await?;
    let reader = json!({"name": "reader", "scopes": ["ask", "read"], "principals": ["user:ada"]});
    let (reader, _) = key(&target.tenants[1], reader).await?;
    let limited = json!({"name": "limited", "scopes": ["ask", "read"], "collections": ["c"]});
    let (limited, _) = key(&target.tenants[1], limited).await?;
    let mut owner = Client::connect(target.address).await?.with_key(&owner);
    let mut store = async |collection: &str, document: Value| {
        let body = json!({"collection": collection, "documents": [document]});
        owner.json(Method::POST, UPLOAD, Some(&body)).await
    };
    let job = store("c", json!({"source": "probed", "text": "Some words."})).await?;
    let (job_id, document) = (text(&job, "/id")?.to_owned(), text(&job, "/items/0/document_id")?.to_owned());
    let hidden = json!({"source": "hidden", "text": "Other words.", "acl": {"allow": ["user:bob"]}});
    let hidden = store("c", hidden).await?;
    let hidden = text(&hidden, "/items/0/document_id")?.to_owned();
    let elsewhere = store("probed-1", json!({"source": "a", "text": "Words."})).await?;
    let elsewhere = text(&elsewhere, "/items/0/document_id")?.to_owned();
    let erased = store("c", json!({"source": "erased", "text": "Words."})).await?;
    let wanted = json!({"document": text(&erased, "/items/0/document_id")?});
    let erasure = owner.json(Method::POST, "/v1/erasures", Some(&wanted)).await?;
    let erasure = text(&erasure, "/id")?.to_owned();
    let collection = owner.json(Method::GET, "/v1/collections/probed-1", None).await?;
    let index = text(&collection, "/index_id")?.to_owned();
    let mut other_key = key_id.clone();
    other_key.replace_range(15.., if key_id.ends_with('0') { "1" } else { "0" });
    let by_id = |name, key: &str, id: &str, ask| {
        anyhow::Ok(Thing { name, key: key.to_owned(), there: id.to_owned(), nothing: beside(id)?, ask })
    };
    let by_name = |name, key: &str, ask| Thing {
        name,
        key: key.to_owned(),
        there: "probed-1".to_owned(),
        nothing: "probed-2".to_owned(),
        ask,
    };
    let ask_collection =
        |name: &str| (Method::POST, "/v1/ask".to_owned(), Some(ask_in(name, "Which words are there?")));
    Ok(vec![
        by_id("document", &attacker, &document, |id| get(format!("/v1/documents/{id}")))?,
        by_id("chunks", &attacker, &document, |id| get(format!("/v1/documents/{id}/chunks")))?,
        by_id("citation", &attacker, &document, citation)?,
        by_id("page of a citation", &attacker, &document, page)?,
        by_id("job", &attacker, &job_id, |id| get(format!("/v1/jobs/{id}")))?,
        by_id("erasure", &attacker, &erasure, |id| get(format!("/v1/erasures/{id}")))?,
        by_id("index", &attacker, &index, |id| {
            (Method::POST, format!("/v1/collections/c/indexes/{id}/activate"), Some(json!({})))
        })?,
        Thing {
            name: "key",
            key: attacker.clone(),
            there: key_id,
            nothing: other_key,
            ask: |id| get(format!("/v1/keys/{id}")),
        },
        by_name("collection", &attacker, |name| get(format!("/v1/collections/{name}"))),
        by_name("ask of a collection", &attacker, ask_collection),
        by_id("hidden document", &reader, &hidden, |id| get(format!("/v1/documents/{id}")))?,
        by_id("hidden citation", &reader, &hidden, citation)?,
        by_id("page of a hidden citation", &reader, &hidden, page)?,
        by_id("check against a hidden citation", &reader, &hidden, |id| {
            let body = json!({"text": "Other words.", "urns": [format!("cited:c/{id}@1#0")]});
            (Method::POST, "/v1/check".to_owned(), Some(body))
        })?,
        by_id("citation of a hidden collection", &limited, &elsewhere, citation)?,
        by_name("hidden collection", &limited, |name| get(format!("/v1/collections/{name}"))),
        by_name("ask of a hidden collection", &limited, ask_collection),
    ])
}

/// Asks for things that are hidden from the asker and for what nobody has in turn, of each kind as often; all of it twice.
pub(super) async fn measure(target: &Target) -> anyhow::Result<[Vec<Probed>; 2]> {
    let things = things(target).await?;
    let mut random = Random::new(SEED);
    let mut runs = [Vec::new(), Vec::new()];
    for run in &mut runs {
        for thing in &things {
            run.push(probe(target, thing, &mut random).await?);
        }
    }
    Ok(runs)
}

async fn probe(target: &Target, thing: &Thing, random: &mut Random) -> anyhow::Result<Probed> {
    let mut asker = Client::connect(target.address).await?.with_key(&thing.key);
    let (mut of_another, mut of_nothing) = (Vec::with_capacity(PAIRS), Vec::with_capacity(PAIRS));
    for _ in 0..PAIRS {
        let mut turns = [(&mut of_another, &thing.there), (&mut of_nothing, &thing.nothing)];
        if random.below(2) == 0 {
            turns.reverse();
        }
        for (times, name) in turns {
            let (method, path, body) = (thing.ask)(name);
            let started = Instant::now();
            let (status, _) = asker.send(method, &path, body.map(|body| body.to_string().into())).await?;
            times.push(started.elapsed());
            let is_refused = matches!(status, StatusCode::NOT_FOUND | StatusCode::CONFLICT);
            ensure!(is_refused, "{} {name} was answered {status}", thing.name);
        }
    }
    of_another.sort_unstable();
    of_nothing.sort_unstable();
    Ok(Probed { thing: thing.name, of_another, of_nothing })
}

impl Probed {
    /// Standard deviations by which the sum of ranks is off what it is where both are alike (Mann, Whitney).
    fn deviation(&self) -> f64 {
        let smaller = |time: &Duration| self.of_nothing.partition_point(|other| other < time);
        let wins: usize = self.of_another.iter().map(smaller).sum();
        #[expect(clippy::cast_precision_loss, reason = "numbers of a table")]
        let [wins, count] = [wins, self.of_another.len()].map(|number| number as f64);
        (wins - count * count / 2.0) / (count * count * (2.0 * count + 1.0) / 12.0).sqrt()
    }
}

/// The things that answer differently in both runs.
pub(super) fn told([first, second]: &[Vec<Probed>; 2]) -> Vec<&'static str> {
    let deviations = first.iter().zip(second).map(|(one, other)| (one.thing, one.deviation(), other.deviation()));
    let is_told = |one: f64, other: f64| one.abs() > TOO_FAR && other.abs() > TOO_FAR && one.signum() == other.signum();
    deviations.filter(|(_, one, other)| is_told(*one, *other)).map(|(thing, ..)| thing).collect()
}

pub(super) fn table([first, second]: &[Vec<Probed>; 2]) -> String {
    let mut table = format!("| {PAIRS} times asked for, twice | hidden | nobody's | deviation |\n|---|---|---|---|\n");
    for (one, again) in first.iter().zip(second) {
        let times = |one: &Probed| [&one.of_another, &one.of_nothing].map(|times| percentile_ms(times, 0.5));
        let ([hidden, nothing], [hidden_again, nothing_again]) = (times(one), times(again));
        let row = format!(
            "| {} | {hidden:.3}, {hidden_again:.3} ms | {nothing:.3}, {nothing_again:.3} ms | {:+.1}, {:+.1} σ |\n",
            one.thing,
            one.deviation(),
            again.deviation()
        );
        table.push_str(&row);
    }
    table
}
