"""Extended Events sessions that users make: statements, predicates, targets, views, and the places where events are raised."""
