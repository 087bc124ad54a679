"""What an exercise is, and how an answer to it is judged, also where the exercise is turned round."""
