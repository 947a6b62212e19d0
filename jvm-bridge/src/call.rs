//! Calls a static method that takes strings, the last of which is how long the boot took, and returns `int`.

use std::time::Duration;

use jni::Env;
use jni::errors::Result;
use jni::objects::{JObject, JValue};
use jni::signature::RuntimeMethodSignature;
use jni::strings::JNIString;

use crate::BridgeConfig;

pub(crate) fn static_method(env: &mut Env<'_>, config: &BridgeConfig, boot: Duration) -> Result<i32> {
    let class = env.find_class(JNIString::from(config.main_class.replace('.', "/")))?;
    let boot_nanos = boot.as_nanos().to_string();
    let mut strings: Vec<JObject<'_>> = Vec::with_capacity(config.arguments.len() + 1);
    for argument in config.arguments.iter().chain([&boot_nanos]) {
        strings.push(env.new_string(argument)?.into());
    }
    let values: Vec<JValue<'_>> = strings.iter().map(JValue::Object).collect();
    let signature =
        RuntimeMethodSignature::from_str(format!("({})I", "Ljava/lang/String;".repeat(values.len())))?;
    let name = JNIString::from(config.method.as_str());
    env.call_static_method(class, name, signature.method_signature(), &values)?.i()
}
