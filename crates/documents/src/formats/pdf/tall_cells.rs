//! Cells of several lines beside several rows. The parser makes a row of each printed line; where horizontal lines are
//! drawn between the rows of a table, they tell which of its lines are one row.

/// Fewer words at the end of a line are unlikely to begin a sentence.
const LEAST_WORDS: usize = 3;
/// With fewer drawn rows, lines may be drawn only below the names of columns.
const DRAWN_ROWS: usize = 3;

/// Joins each row of a table, given by their heights on the page, to the one above it if no line is drawn between them
/// and a cell's sentence goes on. `drawn`: the heights of the drawn lines, from the top.
pub(super) fn join(rows: &mut Vec<Vec<String>>, heights: &[Option<f32>], drawn: &[f32]) {
    let band = |height: &Option<f32>| height.map(|height| drawn.partition_point(|line| *line > height));
    let bands: Vec<usize> = heights.iter().map(|height| band(height).unwrap_or(0)).collect();
    let each_is_drawn = drawn.len() > DRAWN_ROWS;
    let (mut joined, mut in_cell): (Vec<Vec<String>>, bool) = (Vec::with_capacity(rows.len()), false);
    for (at, row) in rows.drain(..).enumerate() {
        let together = at > 0 && bands[at] == bands[at - 1] && (1..drawn.len()).contains(&bands[at]);
        let above = joined.last_mut().filter(|_| together);
        in_cell = above.as_ref().is_some_and(|above| {
            goes_on(above, &row, each_is_drawn) || (in_cell && row.first().is_some_and(String::is_empty))
        });
        match above {
            Some(above) if in_cell => above.iter_mut().zip(row).for_each(|(cell, more)| append(cell, &more)),
            _ => joined.push(row),
        }
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

fn append(cell: &mut String, more: &str) {
    if !cell.is_empty() && !more.is_empty() {
        cell.push(' ');
    }
    cell.push_str(more);
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
        let rows = [["1", "It appends code with"], ["2", "one argument."], ["3", "begin"], ["4", "end"]];
        let expected = [["1 2", "It appends code with one argument."], rows[2], rows[3]];
        assert_eq!(joined(&rows, &[700.0, 600.0, 500.0, 400.0]), expected, "lines of a program");
    }
}
