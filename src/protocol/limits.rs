//! Fixed sizes of the protocol. The Java adapter states the same numbers; a conformance
//! test compares them.

/// Version of the request and response documents.
pub const PROTOCOL_VERSION: u32 = 1;
/// Version of the adapter's analysis behaviour: raise it when the same engine would now give
/// another Analysis.
pub const ANALYSIS_ADAPTER_VERSION: u32 = 1;
/// Version of decompilation: raise it when the same Analysis would now give another text, so that
/// results kept by an older version are not served.
pub const DECOMPILATION_VERSION: u32 = 1;
/// Largest serialized request, in bytes.
pub const MAX_REQUEST_BYTES: usize = 1_048_576;
/// Largest serialized response, in bytes.
pub const MAX_RESPONSE_BYTES: u64 = 268_435_456;
/// Most values in a response, containers included: no honest response comes near.
pub const MAX_RESPONSE_VALUES: usize = 200_000;
/// Longest text in a response but for the decompiled one, in UTF-16 units.
pub const MAX_TEXT_CHARS: usize = 4_096;
/// Most warnings about one decompiled text.
pub const MAX_LISTED_WARNINGS: usize = 10_000;
/// Most Queries in one request.
pub const MAX_QUERIES: usize = 10_000;
/// Size after which a worker adds no further answer to the file of answers, in bytes. The first one may be as large as a
/// response whatever this is.
pub const MAX_ANSWERS_BYTES: u64 = 1_073_741_824;
/// Largest facts file, in bytes.
pub const MAX_FACTS_BYTES: u64 = 1_073_741_824;
/// Largest progress line the harness reads, in bytes.
pub const MAX_PROGRESS_BYTES: usize = 512;
