mod private_postgres;
mod throw_away_postgres;
