"""Leave."""

DAYS = 28


class Leave:
    """Everyone has 28 days of paid leave a year, from the first day on."""

    def days_left(self, taken):
        """Days that are left."""
        return DAYS - taken


def carried_over(unused):
    """Up to five unused days may be carried over; they lapse on 31 March."""
    return min(unused, 5)
