//! Cells of several lines beside several rows. The parser makes a row of each printed line; where horizontal lines are
//! drawn between the rows of a table, they tell which of its lines are one row.

/// Fewer words at the end of a line are unlikely to begin a sentence.
const LEAST_WORDS: usize = 3;
/// With fewer drawn rows, lines may be drawn only below the names of columns.
const DRAWN_ROWS: usize = 3;

/// Joins the rows of a table, given by their heights on the page, between two drawn lines if a cell's sentence goes on
/// from one to the next. `drawn`: the heights of the drawn lines, from the top.
pub(super) fn join(rows: &mut Vec<Vec<String>>, heights: &[Option<f32>], drawn: &[f32]) {
    let band = |height: &Option<f32>| height.map(|height| drawn.partition_point(|line| *line > height));
    let bands: Vec<Option<usize>> = heights.iter().map(band).collect();
    let within = |band: Option<usize>| band.is_some_and(|band| (1..drawn.len()).contains(&band));
    let mut from = 0;
    let mut joined = Vec::with_capacity(rows.len());
    for group in bands.chunk_by(|one, other| one == other && within(*one)) {
        let lines = &rows[from..from + group.len()];
        match lines.windows(2).any(|pair| goes_on(&pair[0], &pair[1], drawn.len() > DRAWN_ROWS)) {
            true => joined.push(one_row(lines)),
            false => joined.extend_from_slice(lines),
        }
        from += group.len();
    }
    *rows = joined;
}

/// Whether a cell's sentence goes on in the row below; in the first column, or if each row is `drawn`, in any.
fn goes_on(above: &[String], below: &[String], drawn: bool) -> bool {
    let mut cells = above.iter().zip(below).take(if drawn { usize::MAX } else { 1 });
    cells.any(|(above, below)| {
        let open = !above.trim_end().ends_with(['.', '!', '?', ':', ';']);
        open && below.starts_with(char::is_lowercase) && above.split_whitespace().count() >= LEAST_WORDS
    })
}

fn one_row(lines: &[Vec<String>]) -> Vec<String> {
    let columns = lines.first().map_or(0, Vec::len);
    let cells = |column: usize| lines.iter().filter_map(move |line| line.get(column)).filter(|cell| !cell.is_empty());
    (0..columns).map(|column| cells(column).map(String::as_str).collect::<Vec<_>>().join(" ")).collect()
}

#[cfg(test)]
mod tests {
    use super::join;

    fn joined(rows: &[[&str; 2]], drawn: &[f32]) -> Vec<Vec<String>> {
        let heights: Vec<Option<f32>> = (0u8..).take(rows.len()).map(|at| Some(690.0 - 10.0 * f32::from(at))).collect();
        let mut rows = rows.iter().map(|row| row.map(str::to_owned).to_vec()).collect();
        join(&mut rows, &heights, drawn);
        rows
    }

    #[test]
    fn lines_of_a_cell_between_two_drawn_lines_are_one_row() {
        let rows =
            [["3.1 Control", "AC"], ["3.2 Limit access to", "AC-4"], ["authorized users.", "AC-5"], ["", "AC-6"]];
        let expected = [["3.1 Control", "AC"], ["3.2 Limit access to authorized users.", "AC-4 AC-5 AC-6"]];
        assert_eq!(joined(&rows, &[700.0, 685.0, 600.0]), expected);
        assert_eq!(joined(&rows, &[700.0, 685.0, 675.0, 600.0])[1], rows[1], "each row is drawn");
        assert_eq!(joined(&rows, &[]), rows, "nothing is drawn");
    }

    #[test]
    fn rows_whose_cells_are_complete_stay() {
        let rows = [["Key", "Meaning"], ["size", "limit of the text"], ["count", "number of parts"]];
        assert_eq!(joined(&rows, &[700.0, 685.0, 600.0]), rows, "a line below the names of the columns");
        let rows = [["AC-4", "Users are trained."], ["AC-5", "Keys are changed."]];
        assert_eq!(joined(&rows, &[700.0, 600.0, 500.0, 400.0]), rows);
    }
}
