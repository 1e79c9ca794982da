//! How the parts of an archive point to each other.

use std::collections::HashMap;

use super::super::{
    ExtractError,
    archive::Archive,
    xml::{Token, walk},
};

/// The parts that `part` points to: full path and kind, by the identity of the relation.
pub(super) fn relations_of(
    archive: &mut Archive<'_>,
    part: &str,
) -> Result<HashMap<String, (String, String)>, ExtractError> {
    let (folder, name) = part.rsplit_once('/').unwrap_or(("", part));
    let mut relations = HashMap::new();
    let Some(xml) = archive.text(&format!("{folder}/_rels/{name}.rels"))? else { return Ok(relations) };
    walk(&xml, |token| {
        if let Token::Open(element) = token
            && let (Some(id), Some(target)) = (element.attribute("Id"), element.attribute("Target"))
        {
            let kind = element.attribute("Type").unwrap_or_default();
            let kind = kind.rsplit('/').next().unwrap_or_default().to_owned();
            relations.insert(id, (resolve(folder, &target), kind));
        }
        Ok(())
    })?;
    Ok(relations)
}

/// The path of `target`, as named from a part in `folder`.
pub(crate) fn resolve(folder: &str, target: &str) -> String {
    let (base, target) = match target.strip_prefix('/') {
        Some(absolute) => ("", absolute),
        None => (folder, target),
    };
    let mut path: Vec<&str> = base.split('/').filter(|step| !step.is_empty()).collect();
    for step in target.split('/') {
        match step {
            "" | "." => {}
            ".." => {
                path.pop();
            }
            step => path.push(step),
        }
    }
    path.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_resolve() {
        let cases = [
            ("ppt", "slides/slide1.xml", "ppt/slides/slide1.xml"),
            ("ppt/slides", "../notesSlides/n.xml", "ppt/notesSlides/n.xml"),
            ("ppt", "/ppt/a.xml", "ppt/a.xml"),
            ("", "../../a.xml", "a.xml"),
            ("a", "./b//c", "a/b/c"),
        ];
        for (folder, target, path) in cases {
            assert_eq!(resolve(folder, target), path);
        }
    }
}
