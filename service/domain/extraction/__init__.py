"""From messages to candidate facts, by rules over the dependency parse."""
