//! Fields: `:name: text`, of the whole document or of an object that is described.

/// Fields that tell programs how to treat a page.
const OF_PROGRAMS: [&str; 6] = ["hidetoc", "no-search", "nocomments", "nosearch", "orphan", "tocdepth"];

/// The name and the text of a field that a line begins.
pub(super) fn field(line: &str) -> Option<(&str, &str)> {
    let (name, text) = line.strip_prefix(':')?.split_once(':')?;
    let is_name = !name.is_empty() && !name.starts_with(' ') && !name.ends_with(' ') && !name.contains('`');
    (is_name && (text.is_empty() || text.starts_with(' '))).then(|| (name, text.trim_start()))
}

/// The words that readers see for the name of a field; `None` of one for programs.
pub(super) fn shown(name: &str) -> Option<String> {
    let (kind, rest) = name.split_once(' ').unwrap_or((name, ""));
    // "param int size" names a type before the name.
    let argument = rest.rsplit(' ').next().unwrap_or_default();
    Some(match kind {
        kind if OF_PROGRAMS.contains(&kind) => return None,
        "return" | "returns" => "Returns".to_owned(),
        "rtype" => "Return type".to_owned(),
        _ if argument.is_empty() => name.to_owned(),
        "param" | "parameter" | "arg" | "argument" | "key" | "keyword" | "ivar" | "var" | "cvar" => argument.to_owned(),
        "type" | "vartype" | "paramtype" => format!("Type of {argument}"),
        "raises" | "raise" | "except" | "exception" | "throws" => format!("Raises {argument}"),
        _ => name.to_owned(),
    })
}
