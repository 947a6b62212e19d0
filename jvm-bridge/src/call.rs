//! Calls a static method that takes strings and returns `int`.

use jni::Env;
use jni::errors::Result;
use jni::objects::{JObject, JValue};
use jni::signature::RuntimeMethodSignature;
use jni::strings::JNIString;

use crate::BridgeConfig;

pub(crate) fn static_method(env: &mut Env<'_>, config: &BridgeConfig) -> Result<i32> {
    let class = env.find_class(JNIString::from(config.main_class.replace('.', "/")))?;
    let mut strings: Vec<JObject<'_>> = Vec::with_capacity(config.arguments.len());
    for argument in &config.arguments {
        strings.push(env.new_string(argument)?.into());
    }
    let values: Vec<JValue<'_>> = strings.iter().map(JValue::Object).collect();
    let signature =
        RuntimeMethodSignature::from_str(format!("({})I", "Ljava/lang/String;".repeat(values.len())))?;
    let name = JNIString::from(config.method.as_str());
    env.call_static_method(class, name, signature.method_signature(), &values)?.i()
}
