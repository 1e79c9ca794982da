//! A sheet of a workbook: its name is a heading, each row a line whose cells are labelled by the first row.

use calamine::{DataType, ExcelDateTime};

use super::super::{
    Cause, ExtractError,
    content::Content,
    rows::{Cell, Rows},
};

/// A sheet that is being read, row by row.
pub(super) struct Sheet {
    /// Name of the sheet, until it has been written above the first row.
    name: Option<String>,
    rows: Rows,
    row: Vec<Cell>,
    number: u32,
}

impl Sheet {
    pub(super) fn new(name: String) -> Self {
        Self { name: Some(name), rows: Rows::default(), row: Vec::new(), number: 0 }
    }

    /// Adds the next cell, which stands to the right of the last one or in a row below.
    pub(super) fn push(
        &mut self,
        row: u32,
        column: u32,
        value: &impl DataType,
        content: &mut Content,
    ) -> Result<(), ExtractError> {
        if row != self.number {
            self.end_row(content)?;
            self.number = row;
        }
        self.row.push((usize::try_from(column).unwrap_or(usize::MAX), text_of(value)));
        Ok(())
    }

    /// Writes what is left.
    pub(super) fn finish(mut self, content: &mut Content) -> Result<(), ExtractError> {
        self.end_row(content)?;
        self.rows.finish(content)
    }

    fn end_row(&mut self, content: &mut Content) -> Result<(), ExtractError> {
        let row = std::mem::take(&mut self.row);
        if row.iter().all(|(_, cell)| cell.trim().is_empty()) {
            return Ok(());
        }
        if let Some(name) = self.name.take() {
            content.heading(1, &name)?;
        }
        self.rows.push(&row, content)
    }
}

/// The error of a workbook that needs a password.
pub(super) fn needs_password() -> ExtractError {
    ExtractError::new(Cause::Encrypted, "the workbook needs a password; save it without one and send it again")
}

fn text_of(value: &impl DataType) -> String {
    if let Some(time) = value.get_datetime() {
        return time_of(&time);
    }
    let text = value.get_string().or_else(|| value.get_datetime_iso()).or_else(|| value.get_duration_iso());
    let text = text.map(str::to_owned);
    text.or_else(|| value.get_int().map(|number| number.to_string()))
        .or_else(|| value.get_float().map(|number| number.to_string()))
        .or_else(|| value.get_bool().map(|value| value.to_string()))
        .unwrap_or_default()
}

/// A date in ISO 8601, with the time of day unless it is midnight; a duration in hours.
fn time_of(time: &ExcelDateTime) -> String {
    if time.is_duration() {
        return format!("{} h", time.as_f64() * 24.0);
    }
    let (year, month, day, hour, minute, second, _) = time.to_ymd_hms_milli();
    match (hour, minute, second) {
        (0, 0, 0) => format!("{year:04}-{month:02}-{day:02}"),
        _ if time.as_f64() < 1.0 => format!("{hour:02}:{minute:02}:{second:02}"),
        _ => format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}"),
    }
}
