"""What a record must satisfy to be believed."""
