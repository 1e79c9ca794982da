//! The order of the shapes of a slide. Files have them in the order in which they were drawn, which programs read out too;
//! but a shape that was drawn later may stand plainly above one that was drawn before.

use super::Shape;

/// Most shapes that are put in order.
const MOST_SHAPES: usize = 256;

/// The place of a shape on its slide, in the units of the group that it lies in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Place {
    /// Number of that group; groups are counted as they begin, `0` is the slide.
    pub(super) group: usize,
    /// Distances from the left and the top, width and height, if the shape has its own.
    pub(super) area: Option<[i64; 4]>,
}

impl Place {
    /// Whether all of it stands above another one, and not beside it.
    fn is_above(self, other: Self) -> bool {
        let (Some([left, top, width, height]), Some([other_left, other_top, other_width, _])) = (self.area, other.area)
        else {
            return false;
        };
        let is_beside = left >= other_left.saturating_add(other_width) || other_left >= left.saturating_add(width);
        self.group == other.group && !is_beside && top.saturating_add(height) <= other_top
    }
}

/// Puts each shape below those that stand above it; else the order stays.
pub(super) fn from_top(shapes: Vec<Shape>) -> Vec<Shape> {
    if shapes.len() > MOST_SHAPES {
        return shapes;
    }
    let mut left = shapes;
    let mut ordered = Vec::with_capacity(left.len());
    while !left.is_empty() {
        let is_next = |shape: &Shape| !left.iter().any(|other| other.place.is_above(shape.place));
        let next = left.iter().position(is_next).unwrap_or(0);
        ordered.push(left.remove(next));
    }
    ordered
}
