//! How long the service takes to say that there is nothing: of what another tenant has, and of what nobody has.

use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use hyper::{Method, StatusCode};
use serde_json::json;
use uuid::Uuid;

use super::Target;
use crate::{asks::percentile_ms, client::Client, random::Random, single::UPLOAD};

const PAIRS: usize = 1_000;
const SEED: u64 = 404;

/// A kind of thing, the id of one of the other tenant's, and the path of an id.
type Thing = (&'static str, Uuid, fn(Uuid) -> String);

/// Times of both kinds of requests for one kind of thing.
pub(super) struct Probed {
    thing: &'static str,
    /// Ascending.
    of_another: Vec<Duration>,
    of_nothing: Vec<Duration>,
}

/// Asks for things of the other tenant and of nobody in turn, of each kind as often.
pub(super) async fn measure(target: &Target) -> anyhow::Result<Vec<Probed>> {
    let mut other = Client::connect(target.address).await?.with_key(&target.other);
    let body = json!({"collection": "c", "documents": [{"source": "probed", "text": "Some words."}]});
    let job = other.json(Method::POST, UPLOAD, Some(&body)).await?;
    let id = |pointer| job.pointer(pointer).and_then(|id| id.as_str()).context("a job names its document");
    let (job_id, document): (Uuid, Uuid) = (id("/id")?.parse()?, id("/items/0/document_id")?.parse()?);
    let mut random = Random::new(SEED);
    let mut probed = Vec::new();
    let things: [Thing; 4] = [
        ("document", document, |id| format!("/v1/documents/{id}")),
        ("chunks", document, |id| format!("/v1/documents/{id}/chunks")),
        ("citation", document, |id| format!("/v1/citations/cited%3Ac%2F{id}%401%230")),
        ("job", job_id, |id| format!("/v1/jobs/{id}")),
    ];
    for (thing, id, path) in things {
        let mut attacker = Client::connect(target.address).await?.with_key(&target.attacker);
        let (mut of_another, mut of_nothing) = (Vec::with_capacity(PAIRS), Vec::with_capacity(PAIRS));
        // An id as old as the other one, and as often asked for.
        let nothing = Uuid::from_u128(id.as_u128() ^ 1);
        for _ in 0..PAIRS {
            let mut turns = [(&mut of_another, id), (&mut of_nothing, nothing)];
            if random.below(2) == 0 {
                turns.reverse();
            }
            for (times, id) in turns {
                let started = Instant::now();
                let (status, _) = attacker.send(Method::GET, &path(id), None).await?;
                times.push(started.elapsed());
                ensure!(status == StatusCode::NOT_FOUND, "{thing} {id} was answered {status}");
            }
        }
        of_another.sort_unstable();
        of_nothing.sort_unstable();
        probed.push(Probed { thing, of_another, of_nothing });
    }
    Ok(probed)
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

pub(super) fn table(probed: &[Probed]) -> String {
    let mut table =
        format!("| {PAIRS} times asked for | another tenant's | nobody's | deviation |\n|---|---|---|---|\n");
    for one in probed {
        let [another, nothing] = [&one.of_another, &one.of_nothing].map(|times| percentile_ms(times, 0.5));
        let deviation = one.deviation();
        table =
            [table, format!("| {} | {another:.3} ms | {nothing:.3} ms | {deviation:+.1} σ |\n", one.thing)].concat();
    }
    table
}
