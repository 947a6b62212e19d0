//! Turns a configuration into the options of the virtual machine, refusing what it would misread.

use jni::{InitArgs, InitArgsBuilder, JNIVersion};

use crate::{BridgeConfig, BridgeError};

const CLASS_PATH: &str = "-Djava.class.path=";

pub(crate) fn init_args(config: &BridgeConfig) -> Result<InitArgs<'static>, BridgeError> {
    if !config.libjvm.is_absolute() {
        return Err(BridgeError::invalid("libjvm is not an absolute path", &config.libjvm.to_string_lossy()));
    }
    let mut builder = InitArgsBuilder::new().version(JNIVersion::V1_8).option(class_path(config)?);
    for option in &config.jvm_options {
        if option.starts_with(CLASS_PATH) {
            return Err(BridgeError::invalid("the class path has a place of its own", option));
        }
        builder = builder.option(option.clone());
    }
    builder.build().map_err(|error| BridgeError::invalid("not an option", &error.to_string()))
}

/// A separator or wildcard inside a path would silently become a different class path.
fn class_path(config: &BridgeConfig) -> Result<String, BridgeError> {
    let mut option = String::from(CLASS_PATH);
    for (at, path) in config.class_path.iter().enumerate() {
        let Some(text) = path.to_str() else {
            return Err(BridgeError::invalid("a class path entry is not UTF-8", &path.to_string_lossy()));
        };
        if !path.is_absolute() || text.contains(':') || text.ends_with('*') {
            return Err(BridgeError::invalid(
                "a class path entry is relative or holds `:` or a wildcard",
                text,
            ));
        }
        if at > 0 {
            option.push(':');
        }
        option.push_str(text);
    }
    Ok(option)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(class_path: &[&str]) -> BridgeConfig {
        BridgeConfig {
            libjvm: "/jdk/lib/server/libjvm.so".into(),
            jvm_options: Vec::new(),
            class_path: class_path.iter().map(Into::into).collect(),
            main_stack_bytes: 1 << 20,
            main_class: "Main".to_owned(),
            method: "run".to_owned(),
            arguments: Vec::new(),
        }
    }

    #[test]
    fn entries_are_joined_in_order() {
        let joined = class_path(&config(&["/b/x.jar", "/a b,c"]));
        assert_eq!(joined.ok().as_deref(), Some("-Djava.class.path=/b/x.jar:/a b,c"));
    }

    #[test]
    fn entries_that_would_be_read_differently_are_refused() {
        for wrong in ["/a:b", "relative.jar", "/lib/*"] {
            assert!(
                matches!(class_path(&config(&[wrong])), Err(BridgeError::InvalidConfig { .. })),
                "{wrong}"
            );
        }
    }

    #[test]
    fn a_relative_library_and_a_second_class_path_are_refused() {
        let relative = BridgeConfig { libjvm: "libjvm.so".into(), ..config(&[]) };
        assert!(matches!(init_args(&relative), Err(BridgeError::InvalidConfig { .. })));
        let second = BridgeConfig { jvm_options: vec!["-Djava.class.path=/x".to_owned()], ..config(&[]) };
        assert!(matches!(init_args(&second), Err(BridgeError::InvalidConfig { .. })));
    }
}
