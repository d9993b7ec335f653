"""Ranking memories for a query: words, scores, abstention and receipts; pure."""
