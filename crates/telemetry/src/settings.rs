//! The standard `OTEL_*` variables that are handled here; the exporter itself reads addresses, headers and timeouts.

use super::names::Generation;

/// What is exported, and under which names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Settings {
    pub(crate) traces: bool,
    pub(crate) metrics: bool,
    pub(crate) generation: Generation,
    /// Whether spans contain prompts, answers, arguments and results. Off by default, because they may contain
    /// anything.
    pub(crate) content: bool,
    /// Whether the operator has named the service.
    pub(crate) named: bool,
}

impl Settings {
    /// Reads the variables with `var`, which treats an empty one as absent.
    pub(crate) fn read(var: impl Fn(&str) -> Option<String>) -> Self {
        let is = |name: &str, value: &str| var(name).is_some_and(|found| found.trim().eq_ignore_ascii_case(value));
        let disabled = is("OTEL_SDK_DISABLED", "true");
        let sent = |signal: &str| {
            let endpoint =
                var("OTEL_EXPORTER_OTLP_ENDPOINT").or_else(|| var(&format!("OTEL_EXPORTER_OTLP_{signal}_ENDPOINT")));
            endpoint.is_some() && !disabled && !is(&format!("OTEL_{signal}_EXPORTER"), "none")
        };
        let attributes = var("OTEL_RESOURCE_ATTRIBUTES").unwrap_or_default();
        let capture = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT";
        Self {
            traces: sent("TRACES"),
            metrics: sent("METRICS"),
            generation: Generation::of(var("OTEL_SEMCONV_STABILITY_OPT_IN").as_deref()),
            content: is(capture, "true") || is(capture, "span_only"),
            named: var("OTEL_SERVICE_NAME").is_some()
                || attributes.split(',').any(|pair| pair.trim().starts_with("service.name=")),
        }
    }

    /// Those of this process.
    pub(crate) fn of_process() -> Self {
        Self::read(|name| std::env::var(name).ok().filter(|value| !value.trim().is_empty()))
    }
}

#[cfg(test)]
mod tests {
    use super::Settings;
    use crate::names::Generation;

    fn read(pairs: &[(&str, &str)]) -> Settings {
        Settings::read(|name| pairs.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned()))
    }

    #[test]
    fn nothing_is_sent_unless_an_address_is_named() {
        let off = read(&[]);
        let expected =
            Settings { traces: false, metrics: false, generation: Generation::V1_41, content: false, named: false };
        assert_eq!(off, expected);
        let endpoint = ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://localhost:4318");
        assert_eq!(read(&[endpoint]), Settings { traces: true, metrics: true, ..expected });
        assert_eq!(read(&[endpoint, ("OTEL_SDK_DISABLED", "TRUE")]), expected);
        assert_eq!(read(&[endpoint, ("OTEL_TRACES_EXPORTER", "none")]), Settings { metrics: true, ..expected });
        let traces = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://localhost:4318/v1/traces");
        assert_eq!(read(&[traces]), Settings { traces: true, ..expected });
        assert!(read(&[("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", "true")]).content);
        assert!(read(&[("OTEL_RESOURCE_ATTRIBUTES", "a=b, service.name=x")]).named);
    }
}
