"""How well motion fits the robot's body."""
