//! Style, script and icon: built in, with their version in the name, so that browsers may cache them.

use axum::{
    extract::Path,
    http::{StatusCode, header},
    response::{IntoResponse, Response},
};

const STYLE: &str = include_str!("assets/style.css");
const SCRIPT: &str = include_str!("assets/live.js");
const ICON: &str = include_str!("assets/icon.svg");

/// `/assets/{name}`.
pub(crate) async fn serve(Path(name): Path<String>) -> Result<Response, (StatusCode, String)> {
    let (kind, content) = match name.as_str() {
        "style.css" => ("text/css; charset=utf-8", STYLE),
        "live.js" => ("text/javascript; charset=utf-8", SCRIPT),
        "icon.svg" => ("image/svg+xml", ICON),
        _ => return Err((StatusCode::NOT_FOUND, format!("there is no file `{name}` here"))),
    };
    Ok(asset(kind, content))
}

/// `/favicon.ico`, for browsers that always request it.
pub(crate) async fn icon() -> Response {
    asset("image/svg+xml", ICON)
}

/// Part of the names of style and script, so that a new release is not shown with an old style.
pub(crate) fn version() -> &'static str {
    static VERSION: std::sync::LazyLock<String> = std::sync::LazyLock::new(|| {
        use sha2::{Digest, Sha256};
        let hash = Sha256::new().chain_update(STYLE).chain_update(SCRIPT).finalize();
        hex::encode(&hash[..4])
    });
    &VERSION
}

fn asset(kind: &'static str, content: &'static str) -> Response {
    let kept = "public, max-age=31536000, immutable";
    ([(header::CONTENT_TYPE, kind), (header::CACHE_CONTROL, kept)], content).into_response()
}
