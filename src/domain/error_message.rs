//! Parts of error messages that depend on how much is known.

/// What is known about a lack of space, to follow a message.
pub fn space(required_bytes: Option<u64>, available_bytes: Option<u64>) -> String {
    match (required_bytes, available_bytes) {
        (Some(required), Some(available)) => format!(": it needs {required} bytes and has {available}"),
        (Some(required), None) => format!(": it needs {required} bytes"),
        (None, Some(available)) => format!(": {available} bytes are left"),
        (None, None) => String::new(),
    }
}

/// Why a target is not supported.
pub fn unsupported(recognised_format: Option<&str>) -> String {
    match recognised_format {
        Some(format) => {
            format!("the format is recognised ({format}), but Ghidra has no language for its processor")
        }
        None => "Ghidra recognises no executable format in this sample".to_owned(),
    }
}
