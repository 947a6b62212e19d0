//! Plain-text presentation of what is stored and what a cleanup removes.

use std::fmt::Write as _;

use super::escape;
use super::page_notice::page_notice;
use crate::domain::cleanup::{Cleanup, CleanupCounts, CleanupMode};
use crate::domain::path_value::PathValue;
use crate::domain::store_list::{ListedAnalysis, StoreList, StoredSample};
use crate::domain::usage::StorageUsage;

/// What stands where an Analysis tells nothing.
const UNKNOWN: &str = "-";

/// `clean`.
pub fn cleanup(data: &Cleanup) -> String {
    let verb = match data.mode {
        CleanupMode::Executed => "Removed",
        CleanupMode::DryRun => "Would remove",
    };
    let counts = &data.matched.counts;
    let mut text = format!("{verb}: {}\n", describe(counts));
    for profile in &data.matched.analysis_profile_sha256 {
        let _ = writeln!(text, "  analysis profile {profile}");
    }
    text
}

/// The question before everything is removed.
pub fn question(store: &PathValue, counts: &CleanupCounts) -> String {
    let store = store.to_string();
    format!("Remove everything in {}: {}? [y/N] ", escape::line(&store), describe(counts))
}

/// Counts and usage in one line.
pub fn describe(counts: &CleanupCounts) -> String {
    let kinds = [
        (counts.analyses, "analysis", "analyses"),
        (counts.quarantined_analyses, "quarantined analysis", "quarantined analyses"),
        (counts.kept_results, "kept result", "kept results"),
        (counts.artifacts, "artifact", "artifacts"),
        (counts.diagnostic_logs, "diagnostic log", "diagnostic logs"),
    ];
    let parts = present(&kinds);
    let usage = &counts.usage;
    if parts.is_empty() && *usage == StorageUsage::default() {
        return "nothing is stored".to_owned();
    }
    let parts = if parts.is_empty() { "remains of damaged data".to_owned() } else { parts.join(", ") };
    format!("{parts}; {} bytes ({} allocated)", usage.logical_bytes, usage.allocated_bytes)
}

/// What there is of each kind, which is called otherwise when there is one of it.
fn present(kinds: &[(u64, &str, &str)]) -> Vec<String> {
    let present = kinds.iter().filter(|(count, ..)| *count > 0);
    present.map(|(count, one, many)| format!("{count} {}", if *count == 1 { one } else { many })).collect()
}

/// `store list`.
pub fn store_list(data: &StoreList) -> String {
    let mut text = String::new();
    if !data.items.is_empty() {
        write_table(&mut text, data.items.iter().flat_map(rows));
    }
    if data.page.total == 0 {
        text.push_str("nothing is stored about any sample\n");
    }
    text.push_str(&page_notice(&data.page, "samples"));
    let global = &data.global;
    if global.artifacts + global.diagnostic_logs > 0 {
        let counts = CleanupCounts {
            artifacts: global.artifacts,
            diagnostic_logs: global.diagnostic_logs,
            usage: global.usage,
            ..CleanupCounts::default()
        };
        let _ = writeln!(text, "of no sample: {}", describe(&counts));
    }
    let interrupted = &data.interrupted_cleanups;
    if interrupted.transactions > 0 {
        let _ = writeln!(
            text,
            "interrupted cleanups: {}; {} bytes allocated; the next clean of the same target finishes them",
            interrupted.transactions, interrupted.usage.allocated_bytes
        );
    }
    text
}

const HEADINGS: [&str; 7] = ["SHA-256", "SIZE", "ALLOCATED", "ENGINE", "TARGET", "CREATED", "MORE"];

/// One row for each Analysis; the Sample's own columns stand in the first of them.
fn rows(sample: &StoredSample) -> Vec<[String; 7]> {
    let size = sample.sample_size_bytes.map_or_else(|| UNKNOWN.to_owned(), |bytes| bytes.to_string());
    let own = [sample.sample_sha256.to_string(), size, sample.usage.allocated_bytes.to_string()];
    let more = more(sample);
    let row = |own: &[String; 3], analysis: [String; 3], more: &str| {
        let [sha256, size, usage] = own.clone();
        let [engine, target, created] = analysis;
        [sha256, size, usage, engine, target, created, more.to_owned()]
    };
    let Some((first, others)) = sample.analyses.split_first() else {
        return vec![row(&own, [UNKNOWN; 3].map(str::to_owned), &more)];
    };
    let mut rows = vec![row(&own, analysis_cells(first), &more)];
    rows.extend(others.iter().map(|analysis| row(&Default::default(), analysis_cells(analysis), "")));
    rows
}

fn analysis_cells(analysis: &ListedAnalysis) -> [String; 3] {
    let cell = |text: &str| escape::line(text).into_owned();
    match &analysis.manifest {
        Some(manifest) => [
            cell(&format!("Ghidra {}, Java {}", manifest.ghidra_version, manifest.java_version)),
            cell(&manifest.target.processor_language),
            cell(&to_the_second(&manifest.created_at)),
        ],
        None => {
            let problem = analysis.problem.as_deref().unwrap_or_default();
            ["corrupt".to_owned(), cell(problem), UNKNOWN.to_owned()]
        }
    }
}

/// A time in UTC without its fraction, whose digits vary.
fn to_the_second(time: &str) -> String {
    match time.split_once('.') {
        Some((seconds, fraction)) if fraction.ends_with('Z') => format!("{seconds}Z"),
        _ => time.to_owned(),
    }
}

fn more(sample: &StoredSample) -> String {
    let kinds = [
        (sample.quarantined_analyses, "quarantined", "quarantined"),
        (sample.kept_results, "result", "results"),
        (sample.artifacts, "artifact", "artifacts"),
        (sample.diagnostic_logs, "log", "logs"),
    ];
    present(&kinds).join(", ")
}

fn write_table(text: &mut String, rows: impl Iterator<Item = [String; 7]>) {
    let rows: Vec<_> = std::iter::once(HEADINGS.map(str::to_owned)).chain(rows).collect();
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..HEADINGS.len()).map(width).collect();
    for row in &rows {
        let mut line = String::new();
        for (column, (cell, width)) in row.iter().zip(&widths).enumerate() {
            let _ = match column {
                1 | 2 => write!(line, "{cell:>width$}  "),
                _ => write!(line, "{cell:width$}  "),
            };
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::cleanup::{CleanupMatch, CleanupTarget};
    use crate::domain::digest::{ProfileDigest, SampleDigest};
    use crate::domain::page::PageRequest;
    use crate::domain::store_list::{
        AnalysisStatus, InterruptedCleanups, ListedManifest, STORE_ORDER, StoredGlobal,
    };
    use crate::domain::target::Target;

    fn usage(bytes: u64) -> StorageUsage {
        StorageUsage { logical_bytes: bytes, allocated_bytes: bytes * 2 }
    }

    #[test]
    fn a_cleanup_says_what_went_and_a_dry_run_what_would() {
        let counts = CleanupCounts { analyses: 1, artifacts: 2, usage: usage(5), ..CleanupCounts::default() };
        let profile = ProfileDigest::from_bytes([0xab; 32]);
        let mut data = Cleanup {
            mode: CleanupMode::Executed,
            target: CleanupTarget::All {},
            matched: CleanupMatch { counts, analysis_profile_sha256: vec![profile] },
            removed: Some(counts),
        };
        let rest = format!("1 analysis, 2 artifacts; 5 bytes (10 allocated)\n  analysis profile {profile}\n");
        assert_eq!(cleanup(&data), format!("Removed: {rest}"));
        data.mode = CleanupMode::DryRun;
        assert_eq!(cleanup(&data), format!("Would remove: {rest}"));
        data.matched = CleanupMatch::default();
        assert_eq!(cleanup(&data), "Would remove: nothing is stored\n");
    }

    #[test]
    fn the_question_names_the_store_and_hides_no_control_characters() {
        let store = PathValue::Utf8("/s\x1b".to_owned());
        let counts = CleanupCounts { diagnostic_logs: 1, usage: usage(1), ..CleanupCounts::default() };
        let expected = "Remove everything in /s\\u{1b}: 1 diagnostic log; 1 bytes (2 allocated)? [y/N] ";
        assert_eq!(question(&store, &counts), expected);
    }

    #[test]
    fn the_list_is_a_table_that_tells_what_is_damaged_and_how_to_continue() {
        let target = Target {
            loader: "l".into(),
            format: "f".into(),
            processor_language: "x86:LE:64:\x1bdefault".into(),
            compiler_specification: "gcc".into(),
        };
        let manifest = ListedManifest {
            target,
            ghidra_version: "10.3".into(),
            ghidra_build: "b".into(),
            java_version: "17".into(),
            max_cpu: 2,
            created_at: "1970-01-01T00:00:00.123456Z".into(),
            created_by_ghidr_version: "0.1.0".into(),
        };
        let sound = ListedAnalysis {
            analysis_profile_sha256: ProfileDigest::from_bytes([1; 32]),
            status: AnalysisStatus::Complete,
            problem: None,
            manifest: Some(manifest),
            usage: usage(3),
        };
        let damaged = ListedAnalysis {
            status: AnalysisStatus::Corrupt,
            problem: Some("manifest.json: missing".into()),
            manifest: None,
            ..sound.clone()
        };
        let sample = |number: u8, analyses| StoredSample {
            sample_sha256: SampleDigest::from_bytes([number; 32]),
            sample_size_bytes: (number == 0).then_some(18_376),
            analyses,
            quarantined_analyses: u64::from(number),
            artifacts: 0,
            kept_results: 0,
            diagnostic_logs: u64::from(number),
            usage: usage(7),
        };
        let data = StoreList {
            page: PageRequest::Window { offset: 0, limit: 2 }.describe(STORE_ORDER, 3),
            items: vec![sample(0, vec![sound, damaged]), sample(1, vec![])],
            global: StoredGlobal { artifacts: 1, diagnostic_logs: 0, usage: usage(4) },
            interrupted_cleanups: InterruptedCleanups { transactions: 1, usage: usage(5) },
        };
        let (zeros, ones, blank) = ("0".repeat(64), "01".repeat(32), " ".repeat(64));
        let expected = format!(
            "{:64}   SIZE  ALLOCATED  ENGINE                TARGET                   CREATED               MORE\n\
             {zeros}  18376         14  Ghidra 10.3, Java 17  x86:LE:64:\\u{{1b}}default  1970-01-01T00:00:00Z\n\
             {blank}                    corrupt               manifest.json: missing   -\n\
             {ones}      -         14  -                     -                        -                     1 quarantined, 1 log\n\
             2 of 3 samples shown; more: --offset 2, or --all\n\
             of no sample: 1 artifact; 4 bytes (8 allocated)\n\
             interrupted cleanups: 1; 10 bytes allocated; the next clean of the same target finishes them\n",
            "SHA-256"
        );
        assert_eq!(store_list(&data), expected);
    }
}
