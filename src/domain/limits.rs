//! Execution policy of one command: the selected limits and what is derived from them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Default Java heap, in MiB.
pub const DEFAULT_MAX_HEAP_MIB: u64 = 2_048;
/// What the whole worker tree may use beyond the Java heap by default, in MiB (D10).
pub const DEFAULT_MEMORY_HEADROOM_MIB: u64 = 2_048;
/// Default CPU count passed to Ghidra.
pub const DEFAULT_MAX_CPU: u32 = 2;
/// Default native analysis time-out, in seconds.
pub const DEFAULT_ANALYSIS_TIMEOUT_SECONDS: u64 = 600;
/// Default native decompiler time-out per Function, in seconds.
pub const DEFAULT_DECOMPILE_TIMEOUT_SECONDS: u64 = 60;
/// Default time for all decompilations of one batch, in seconds.
pub const DEFAULT_BATCH_TIMEOUT_SECONDS: u64 = 3_600;
/// Most Queries in one batch.
pub const MAX_BATCH_QUERIES: usize = 10_000;
/// Largest input of a batch, in bytes: whatever stands in it, its Queries fit one request to a worker.
pub const MAX_BATCH_INPUT_BYTES: u64 = 524_288;
/// Longest line of that input, its LF not counted, in bytes.
pub const MAX_BATCH_LINE_BYTES: usize = 16_384;
/// Longest native time-out, in seconds: Ghidra keeps it as milliseconds in a signed 32-bit number, and takes a
/// larger one for a short or a negative time.
pub const MAX_TIMEOUT_SECONDS: u64 = (i32::MAX / 1_000) as u64;
/// Smallest Java heap with which a Java machine starts at all, in MiB.
pub const LEAST_HEAP_MIB: u64 = 2;
/// Largest Java heap, in MiB: a Java machine can reserve no more of a 47-bit address space with certainty.
pub const MOST_HEAP_MIB: u64 = 32 << 20;
/// Most cores: far above any machine, far below what the worker could not even count.
pub const MOST_CPU: u32 = 65_536;
/// What the watchdog allows beyond the native phases, in seconds.
pub const WATCHDOG_MARGIN_SECONDS: u64 = 120;
/// Default largest Sample, in bytes.
pub const DEFAULT_MAX_SAMPLE_BYTES: u64 = 1_073_741_824;
/// Free space the store must keep beyond the Sample, in bytes.
pub const STORE_RESERVE_BYTES: u64 = 1_073_741_824;
/// Bound on everything a worker may write to disk, in bytes.
pub const DISK_QUOTA_BYTES: u64 = 8 << 30;
/// Default serialized budget of a success document, in bytes.
pub const DEFAULT_MAX_INLINE_BYTES: u64 = 65_536;
/// Fixed serialized cap of an error document, in bytes.
pub const ERROR_DOCUMENT_CAP_BYTES: usize = 65_536;
/// Default page size of a collection Query, in items.
pub const DEFAULT_PAGE_LIMIT: u64 = 100;
/// Most items in any bounded candidate list.
pub const CANDIDATE_LIMIT: usize = 20;

/// The limits selected for one command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExecutionLimits {
    /// `-Xmx`, in MiB.
    pub max_heap_mib: u64,
    /// Bound on the worker tree's summed proportional set size, in MiB.
    pub max_memory_mib: u64,
    /// Cores Ghidra may use.
    pub max_cpu: u32,
    /// Native analysis time-out, in seconds.
    pub analysis_timeout_seconds: u64,
    /// Native decompiler time-out, in seconds.
    pub decompile_timeout_seconds: u64,
}

/// The native phases a worker will run; each adds its time-out to the watchdog.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NativePhases {
    /// Import and auto-analysis.
    pub analysis: bool,
    /// Decompilation of one Function.
    pub decompilation: bool,
    /// Time for the decompilations before the last one, in seconds, when there may be several.
    pub batch_timeout_seconds: Option<u64>,
}

impl ExecutionLimits {
    /// Hard bound on the worker: the enabled native time-outs plus the margin.
    pub fn watchdog_seconds(&self, phases: NativePhases) -> u64 {
        let mut seconds = WATCHDOG_MARGIN_SECONDS;
        if phases.analysis {
            seconds = seconds.saturating_add(self.analysis_timeout_seconds);
        }
        if phases.decompilation {
            seconds = seconds.saturating_add(self.decompile_timeout_seconds);
        }
        seconds.saturating_add(phases.batch_timeout_seconds.unwrap_or(0))
    }
}

/// Limits as response provenance reports them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReportedLimits {
    /// Java heap limit (not resident memory), in MiB.
    pub max_heap_mib: u64,
    /// Bound on the whole worker tree's memory, in MiB.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub max_memory_mib: Option<u64>,
    /// Cores Ghidra may use.
    pub max_cpu: u32,
    /// Native analysis time-out, in seconds.
    pub analysis_timeout_seconds: u64,
    /// Native decompiler time-out, in seconds; null for a Query that decompiles nothing.
    pub decompile_timeout_seconds: Option<u64>,
    /// Time for all decompilations of a batch, in seconds; absent for every other command.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub batch_timeout_seconds: Option<u64>,
    /// Watchdog of the worker that ran, in seconds; null when none ran.
    pub child_watchdog_seconds: Option<u64>,
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: ExecutionLimits = ExecutionLimits {
        max_heap_mib: DEFAULT_MAX_HEAP_MIB,
        max_memory_mib: DEFAULT_MAX_HEAP_MIB + DEFAULT_MEMORY_HEADROOM_MIB,
        max_cpu: DEFAULT_MAX_CPU,
        analysis_timeout_seconds: DEFAULT_ANALYSIS_TIMEOUT_SECONDS,
        decompile_timeout_seconds: DEFAULT_DECOMPILE_TIMEOUT_SECONDS,
    };

    #[test]
    fn watchdog_is_the_sum_of_enabled_phases_plus_the_margin() {
        let watchdog = |analysis, decompilation, batch_timeout_seconds| {
            LIMITS.watchdog_seconds(NativePhases { analysis, decompilation, batch_timeout_seconds })
        };
        assert_eq!(watchdog(true, false, None), 720);
        assert_eq!(watchdog(true, true, None), 780);
        assert_eq!(watchdog(false, true, None), 180);
        assert_eq!(watchdog(false, false, None), 120);
        assert_eq!(watchdog(true, true, Some(3_600)), 4_380);
    }

    #[test]
    fn watchdog_saturates_instead_of_wrapping() {
        let limits = ExecutionLimits { analysis_timeout_seconds: u64::MAX, ..LIMITS };
        assert_eq!(
            limits.watchdog_seconds(NativePhases {
                analysis: true,
                decompilation: true,
                batch_timeout_seconds: Some(1)
            }),
            u64::MAX
        );
    }
}
