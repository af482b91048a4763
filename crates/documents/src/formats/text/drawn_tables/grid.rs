//! Grid tables: `+---+---+` between the rows, `+===+===+` below the names of the columns. A cell spans rows or columns if
//! no line is drawn within it.

use super::{Drawn, MOST_LINES, cell};
use crate::formats::blocks::label_of_rows;

/// Wider tables stay as they are.
const MOST_COLUMNS: usize = 200;

/// The grid table that begins with a line.
pub(super) fn read(lines: &[&str], at: usize) -> Option<Drawn> {
    let first = edges(lines[at])?;
    let (left, right) = (*first.first()?, *first.last()?);
    let mut edges_of_all = first;
    let mut drawn = Vec::new();
    for line in lines[at..].iter().take(MOST_LINES) {
        let signs: Vec<char> = line.trim_end().chars().collect();
        if !signs.get(left).is_some_and(|sign| is_wall(*sign)) {
            break;
        }
        if signs.len() != right + 1 || !is_wall(signs[right]) {
            return None;
        }
        edges_of_all.extend(edges(line).unwrap_or_default());
        drawn.push(signs);
    }
    let whole = drawn.last().is_some_and(|last| is_border(last, left, right)) && drawn.len() > 2;
    edges_of_all.sort_unstable();
    edges_of_all.dedup();
    let grid = Grid::of(&drawn, edges_of_all).filter(|_| whole)?;
    let length = drawn.len();
    let (rows, has_header) = grid.rows()?;
    Some(Drawn { rows, has_header, above: 0, length })
}

/// The places of the corners of a line between rows.
fn edges(line: &str) -> Option<Vec<usize>> {
    let text = line.trim();
    let is_border = text.len() > 2
        && text.starts_with('+')
        && text.ends_with('+')
        && text.contains(['-', '='])
        && text.chars().all(|sign| sign == '+' || is_rule(sign));
    is_border.then(|| line.chars().enumerate().filter(|(_, sign)| *sign == '+').map(|(at, _)| at).collect())
}

fn is_wall(sign: char) -> bool {
    matches!(sign, '|' | '+')
}

fn is_rule(sign: char) -> bool {
    matches!(sign, '-' | '=' | ':')
}

/// Whether a line is drawn from one place to another.
fn is_border(line: &[char], from: usize, to: usize) -> bool {
    let ends = [from, to].iter().all(|at| line.get(*at) == Some(&'+'));
    ends && line[from + 1..to].iter().all(|sign| *sign == '+' || is_rule(*sign))
}

/// The lines of a table, cut at the edges of its columns and at those lines that have a border.
struct Grid<'a> {
    lines: &'a [Vec<char>],
    edges: Vec<usize>,
    borders: Vec<usize>,
}

impl<'a> Grid<'a> {
    /// None if two borders have no text between them.
    fn of(lines: &'a [Vec<char>], edges: Vec<usize>) -> Option<Self> {
        let has_border = |line: &[char]| edges.windows(2).any(|edge| is_border(line, edge[0], edge[1]));
        let borders: Vec<usize> = (0..lines.len()).filter(|at| has_border(&lines[*at])).collect();
        let is_table = edges.len() <= MOST_COLUMNS && borders.windows(2).all(|two| two[1] > two[0] + 1);
        is_table.then_some(Self { lines, edges, borders })
    }

    /// Its rows, and whether the first one names the columns; none if a cell is no rectangle.
    fn rows(&self) -> Option<(Vec<Vec<String>>, bool)> {
        let (height, width) = (self.borders.len() - 1, self.edges.len() - 1);
        let is_header = |row: &usize| self.lines[self.borders[*row]].contains(&'=');
        let header = (1..height).find(is_header).unwrap_or(0);
        let firsts = self.firsts(height, width);
        // How many places each cell has.
        let mut sizes = vec![vec![0; width]; height];
        for (row, column) in firsts.iter().flatten() {
            sizes[*row][*column] += 1;
        }
        let mut rows = vec![vec![String::new(); width]; height];
        for (row, column) in (0..height).flat_map(|row| (0..width).map(move |column| (row, column))) {
            if firsts[row][column] != (row, column) {
                continue;
            }
            let own = |at: (usize, usize)| firsts[at.0][at.1] == (row, column);
            let right = (column..width).take_while(|at| own((row, *at))).last()?;
            let below = (row..height).take_while(|at| own((*at, column))).last()?;
            let area = (row..=below).flat_map(|row| (column..=right).map(move |column| (row, column)));
            if !area.clone().all(own) || sizes[row][column] != area.clone().count() {
                return None;
            }
            let text = self.text((row, below), (column, right));
            for (at, place) in area {
                // Names of several columns name each; those of several rows are joined from these.
                let is_shown = place == column || at < header;
                let said = match at {
                    at if at == row => text.as_str(),
                    at if at < header => "",
                    _ => label_of_rows(&text),
                };
                rows[at][place] = if is_shown { said.to_owned() } else { String::new() };
            }
        }
        let body = rows.split_off(header);
        let names = (0..width).map(|column| named(&rows, column)).collect();
        let head = (header > 0).then_some(names);
        Some((head.into_iter().chain(body).collect(), header > 0))
    }

    /// Of each place, the first place of its cell.
    fn firsts(&self, height: usize, width: usize) -> Vec<Vec<(usize, usize)>> {
        let mut firsts: Vec<Vec<(usize, usize)>> = Vec::with_capacity(height);
        for row in 0..height {
            let between = &self.lines[self.borders[row] + 1..self.borders[row + 1]];
            let mut all: Vec<(usize, usize)> = Vec::with_capacity(width);
            for column in 0..width {
                let (from, to) = (self.edges[column], self.edges[column + 1]);
                let is_open = column > 0 && !between.iter().all(|line| is_wall(line[from]));
                let is_below = row > 0 && !is_drawn(&self.lines[self.borders[row]], from, to);
                all.push(match (is_open, is_below) {
                    (true, _) => all[column - 1],
                    (false, true) => firsts[row - 1][column],
                    (false, false) => (row, column),
                });
            }
            firsts.push(all);
        }
        firsts
    }

    fn text(&self, rows: (usize, usize), columns: (usize, usize)) -> String {
        let (from, to) = (self.edges[columns.0] + 1, self.edges[columns.1 + 1]);
        let lines = &self.lines[self.borders[rows.0] + 1..self.borders[rows.1 + 1]];
        cell(&lines.iter().map(|line| line[from..to].iter().collect()).collect::<Vec<String>>())
    }
}

/// Whether a line is drawn between two edges.
fn is_drawn(line: &[char], from: usize, to: usize) -> bool {
    line[from + 1..to].iter().all(|sign| is_rule(*sign))
}

/// What the rows above the first one say of a column.
fn named(rows: &[Vec<String>], column: usize) -> String {
    let mut names: Vec<&str> = rows.iter().map(|row| row[column].as_str()).filter(|name| !name.is_empty()).collect();
    names.dedup();
    names.join(" ")
}
