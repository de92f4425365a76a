"""What the readers of motion files share: walking folders, deciding conventions, building an episode."""
