//! Arguments of `clean`: exactly one target, and how to go about it.

use std::ffi::OsStr;
use std::path::PathBuf;

use clap::builder::TypedValueParser;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{ArgGroup, Args, ValueHint};

use crate::domain::digest::SampleDigest;

/// Arguments of `clean`.
#[derive(Debug, Args)]
#[command(group = ArgGroup::new("target").required(true).args(["sample", "digest", "all"]))]
pub struct CleanArguments {
    /// A file with the sample's bytes: what is stored about them is removed, the file is not
    #[arg(value_hint = ValueHint::FilePath)]
    pub sample: Option<PathBuf>,
    /// SHA-256 of the sample, when there is no file of it any more
    #[arg(long, value_name = "SHA256", value_parser = Digest, allow_hyphen_values = true)]
    pub digest: Option<SampleDigest>,
    /// Everything in the store
    #[arg(long)]
    pub all: bool,
    /// Report what would be removed, and remove nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Remove everything without asking; only with --all
    #[arg(long, requires = "all", conflicts_with_all = ["sample", "digest"])]
    pub yes: bool,
}

/// Parses a SHA-256 in either letter case.
#[derive(Debug, Clone, Copy)]
struct Digest;

impl TypedValueParser for Digest {
    type Value = SampleDigest;

    fn parse_ref(
        &self,
        command: &clap::Command,
        _argument: Option<&clap::Arg>,
        value: &OsStr,
    ) -> Result<SampleDigest, clap::Error> {
        let digest = value.to_str().and_then(|text| text.to_ascii_lowercase().parse().ok());
        digest.ok_or_else(|| {
            let shown = value.to_string_lossy();
            let text = format!("--digest takes exactly 64 hexadecimal digits, not '{shown}'\n");
            let mut error = clap::Error::raw(ErrorKind::ValueValidation, text).with_cmd(command);
            error.insert(ContextKind::InvalidArg, ContextValue::String("--digest".to_owned()));
            error
        })
    }
}
