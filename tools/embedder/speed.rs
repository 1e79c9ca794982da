//! Times the built-in embedder on the texts of a JSON file: `embedder-speed texts.json THREADS SECONDS`.
//!
//! Prints one JSON object: milliseconds to start, milliseconds per text with one text after the other, and texts per
//! second with all threads busy. `run.py` calls it in turns with onnxruntime.

use std::error::Error;
use std::num::NonZeroUsize;
use std::time::{Duration, Instant};

use minilm::MiniLm;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, file, threads, seconds] = arguments.as_slice() else {
        return Err("usage: embedder-speed texts.json THREADS SECONDS".into());
    };
    let texts: Vec<String> = serde_json::from_slice(&std::fs::read(file)?)?;
    let threads: NonZeroUsize = threads.parse()?;
    let time = Duration::from_secs_f64(seconds.parse()?);

    let start = Instant::now();
    let model = MiniLm::start(threads)?;
    let start_ms = start.elapsed().as_secs_f64() * 1e3;
    let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    runtime.block_on(async {
        model.embed_passages(texts.clone()).await?;

        let mut alone = Vec::new();
        let cpu = cpu_ms();
        let began = Instant::now();
        for text in texts.iter().cycle() {
            let one = Instant::now();
            model.embed_query(text).await?;
            alone.push(one.elapsed().as_secs_f64() * 1e3);
            if began.elapsed() > time {
                break;
            }
        }
        let cpu = (cpu_ms() - cpu) / f64::from(u32::try_from(alone.len())?);
        alone.sort_by(f64::total_cmp);

        let mut done = 0;
        let began = Instant::now();
        while began.elapsed() < time {
            done += model.embed_passages(texts.clone()).await?.len();
        }
        let result = serde_json::json!({
            "start_ms": start_ms,
            "cpu_ms": cpu,
            "best_ms": alone[0],
            "median_ms": alone[alone.len() / 2],
            "per_second": f64::from(u32::try_from(done)?) / began.elapsed().as_secs_f64(),
        });
        println!("{result}");
        Ok(())
    })
}

/// Processor time this process has used, which other processes disturb less than the clock on the wall. Zero where
/// there is no Linux `/proc`; fields 14 and 15 there are in hundredths of a second.
fn cpu_ms() -> f64 {
    let fields = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let after_name = fields.rsplit(')').next().unwrap_or_default();
    after_name.split_whitespace().skip(11).take(2).filter_map(|field| field.parse::<f64>().ok()).sum::<f64>() * 10.0
}
