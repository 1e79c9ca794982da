//! One table: a line for each measurement, a column for each size.

use super::{
    curve::Point,
    facts::Facts,
    filters::Filtered,
    graphs::{Built, Graph},
    latency::Searched,
    neighbours::{Answered, Neighbourhood},
    truth::Recall,
};
use crate::{asks::percentile_ms, raw_search, report::machine};

/// All measurements of one size.
pub struct Column {
    pub chunks: usize,
    pub facts: Facts,
    pub recall: Recall,
    pub searches: Vec<Searched>,
    pub raw: Vec<raw_search::Searched>,
    pub curve: Vec<Point>,
    pub graphs: Vec<Built>,
    pub filters: Vec<Filtered>,
    pub neighbours: Vec<Neighbourhood>,
}

/// Prints everything as Markdown.
pub fn print(columns: &[Column]) {
    println!("{}\n", machine());
    let sizes: Vec<String> = columns.iter().map(|column| format!("{} chunks", column.chunks)).collect();
    println!("| measurement | {} | growth of p50 |", sizes.join(" | "));
    println!("|---|{}---|", "---|".repeat(columns.len()));
    for (place, first) in columns.first().map_or(&[] as &[Searched], |column| &column.searches).iter().enumerate() {
        let name = format!(
            "search, {}{}, {}",
            first.mode,
            if first.rerank { ", reranked" } else { "" },
            clients(first.clients)
        );
        latency_line(&name, columns, |column| {
            Some((&column.searches.get(place)?.latencies, column.searches.get(place)?.per_second))
        });
    }
    for (place, first) in
        columns.first().map_or(&[] as &[raw_search::Searched], |column| &column.raw).iter().enumerate()
    {
        let name = format!("raw SQL, ten nearest vectors, {}", clients(first.clients));
        latency_line(&name, columns, |column| {
            let raw = column.raw.get(place)?;
            #[expect(clippy::cast_precision_loss, reason = "a rate for a table")]
            let rate = raw.searches as f64 / raw.elapsed.as_secs_f64();
            Some((&raw.latencies, rate))
        });
    }
    line("lexical recall@10 against scoring every chunk", columns, |column| format!("{:.4}", column.recall.lexical));
    line("dense recall@10 against comparing every vector", columns, |column| format!("{:.4}", column.recall.dense));
    line("rows stored by SQL", columns, |column| format!("{:.0} s", column.facts.rows_s));
    for (index, name) in [("chunk_embedding_graph", "HNSW"), ("chunk_terms", "GIN of terms")] {
        line(&format!("{name}: build, size"), columns, |column| {
            format!("{:.0} s, {}", column.facts.seconds_of(index), megabytes(column.facts.bytes_of(index)))
        });
    }
    for table in ["document", "chunk", "chunk_embedding"] {
        line(&format!("table {table}"), columns, |column| {
            let bytes = column.facts.bytes.iter().find(|(name, _)| name == table).map_or(0, |(_, bytes)| *bytes);
            megabytes(bytes)
        });
    }
    line("everything, for each chunk", columns, |column| {
        #[expect(clippy::cast_precision_loss, reason = "an average for a table")]
        let each = column.facts.bytes_of("") as f64 / column.chunks as f64;
        format!("{each:.0} bytes")
    });
    println!(
        "\nGrowth is the exponent of n that fits p50 best; that of log n between these sizes is {}.",
        log_growth(columns)
    );
    print_filters(columns);
    print_neighbours(columns);
    print_curves(columns);
    print_graphs(columns);
}

fn print_filters(columns: &[Column]) {
    for column in columns.iter().filter(|column| !column.filters.is_empty()) {
        println!("\n{} chunks, searches with a filter:\n", column.chunks);
        println!(
            "| chunks that match | results that are there | dense recall@10 | lexical recall@10 | starts from | hybrid, reranked, 1 client: p50, p95 |"
        );
        println!("|---:|---|---|---|---|---|");
        for filtered in &column.filters {
            let Filtered { matching, dense_results, dense_recall, lexical_recall, starts_from, p50_ms, p95_ms } =
                filtered;
            println!(
                "| {matching} | {dense_results:.3} | {dense_recall:.4} | {lexical_recall:.4} | {starts_from} | {p50_ms:.1}, {p95_ms:.1} ms |"
            );
        }
    }
}

fn print_neighbours(columns: &[Column]) {
    for column in columns.iter().filter(|column| !column.neighbours.is_empty()) {
        println!(
            "\n{} chunks, dense recall@10, p50 and CPU seconds of the database for 1,000 searches:\n",
            column.chunks
        );
        println!(
            "| asked | the service | one graph, by SQL | the service, a fifth replaced | one graph, a fifth replaced |"
        );
        println!("|---|---|---|---|---|");
        for Neighbourhood { case, service, one_graph, service_replaced, one_graph_replaced } in &column.neighbours {
            let cells = [service, one_graph, service_replaced, one_graph_replaced].map(
                |Answered { recall, p50_ms, database_cpu_s }| {
                    format!("{recall:.3}, {p50_ms:.1} ms, {database_cpu_s:.1} s")
                },
            );
            println!("| {case} | {} |", cells.join(" | "));
        }
    }
}

fn print_curves(columns: &[Column]) {
    for column in columns.iter().filter(|column| !column.curve.is_empty()) {
        println!("\n{} chunks, the lexical half in the database alone:\n", column.chunks);
        println!("| candidate budget | recall@10 | p50 | p95 |\n|---|---|---|---|");
        for Point { budget, recall, p50_ms, p95_ms } in &column.curve {
            println!("| {budget} | {recall:.4} | {p50_ms:.1} ms | {p95_ms:.1} ms |");
        }
    }
}

fn print_graphs(columns: &[Column]) {
    for column in columns.iter().filter(|column| !column.graphs.is_empty()) {
        println!("\n{} chunks, the ten nearest vectors in the database alone:\n", column.chunks);
        println!("| dimensions | m | ef_construction | build, size | ef_search | recall@10 | p50 | p95 |");
        println!("|---|---|---|---|---|---|---|---|");
        for Built { graph: Graph { dimension, m, ef_construction }, build_s, bytes, points } in &column.graphs {
            for point in points {
                let size = megabytes(*bytes);
                println!(
                    "| {dimension} | {m} | {ef_construction} | {build_s:.0} s, {size} | {} | {:.4} | {:.1} ms | {:.1} ms |",
                    point.ef_search, point.recall, point.p50_ms, point.p95_ms
                );
            }
        }
    }
}

fn line(name: &str, columns: &[Column], value: impl Fn(&Column) -> String) {
    let values: Vec<String> = columns.iter().map(value).collect();
    println!("| {name} | {} | |", values.join(" | "));
}

fn latency_line<'a>(
    name: &str,
    columns: &'a [Column],
    measured: impl Fn(&'a Column) -> Option<(&'a Vec<std::time::Duration>, f64)>,
) {
    let mut points = Vec::new();
    let mut cells = Vec::new();
    for column in columns {
        let Some((latencies, rate)) = measured(column) else { continue };
        let [p50, p95, p99] = [0.5, 0.95, 0.99].map(|share| percentile_ms(latencies, share));
        points.push((column.chunks, p50));
        cells.push(format!("{p50:.1}, {p95:.1}, {p99:.1} ms; {rate:.0}/s"));
    }
    println!("| {name}: p50, p95, p99; rate | {} | {} |", cells.join(" | "), growth(&points));
}

/// The slope of log p50 over log n, by least squares.
fn growth(points: &[(usize, f64)]) -> String {
    #[expect(clippy::cast_precision_loss, reason = "sizes for a fit")]
    let logs: Vec<(f64, f64)> = points.iter().map(|(n, p50)| ((*n as f64).ln(), p50.ln())).collect();
    slope(&logs).map_or_else(String::new, |slope| format!("n^{slope:.2}"))
}

fn log_growth(columns: &[Column]) -> String {
    #[expect(clippy::cast_precision_loss, reason = "sizes for a fit")]
    let points: Vec<(usize, f64)> = columns.iter().map(|column| (column.chunks, (column.chunks as f64).ln())).collect();
    growth(&points)
}

fn slope(points: &[(f64, f64)]) -> Option<f64> {
    if points.len() < 2 {
        return None;
    }
    #[expect(clippy::cast_precision_loss, reason = "a handful")]
    let count = points.len() as f64;
    let mean = |value: fn(&(f64, f64)) -> f64| points.iter().map(value).sum::<f64>() / count;
    let (x, y) = (mean(|point| point.0), mean(|point| point.1));
    let covariance: f64 = points.iter().map(|point| (point.0 - x) * (point.1 - y)).sum();
    let variance: f64 = points.iter().map(|point| (point.0 - x).powi(2)).sum();
    Some(covariance / variance)
}

fn clients(number: usize) -> String {
    if number == 1 { "1 client".to_owned() } else { format!("{number} clients") }
}

fn megabytes(bytes: i64) -> String {
    #[expect(clippy::cast_precision_loss, reason = "a size for a table")]
    let megabytes = bytes as f64 / 1e6;
    format!("{megabytes:.0} MB")
}
