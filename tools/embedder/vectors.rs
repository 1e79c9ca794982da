//! Prints the vectors of the texts of a JSON file, each as 384 little-endian `f32`: `embedder-vectors texts.json`.
//!
//! `tools/minilm/compare.py` sets them beside those of the float32 model.

use std::error::Error;
use std::io::Write;

use minilm::MiniLm;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, file] = arguments.as_slice() else {
        return Err("usage: embedder-vectors texts.json".into());
    };
    let texts: Vec<String> = serde_json::from_slice(&std::fs::read(file)?)?;
    let model = MiniLm::start(std::thread::available_parallelism()?)?;
    let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    let vectors = runtime.block_on(model.embed_passages(texts))?;
    let bytes: Vec<u8> = vectors.iter().flatten().flat_map(|value| value.to_le_bytes()).collect();
    let mut output = std::io::stdout().lock();
    output.write_all(&bytes)?;
    output.flush()?;
    Ok(())
}
