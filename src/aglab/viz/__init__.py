"""Figures, explorables and quizzes: one classic-script front end, wrapped for JupyterLab, used as it is in the static book."""

from aglab.viz.classes import class_predictions
from aglab.viz.compare import comparison, errors
from aglab.viz.declare import Answer, Output, Parameter, Question
from aglab.viz.explorable import Explorable
from aglab.viz.figure import Figure, Table
from aglab.viz.figures import arms, sweep_curve, time_series
from aglab.viz.labs import load_arms, load_explorable, load_living
from aglab.viz.living import ClusterPicture, cluster_picture
from aglab.viz.parts import parts
from aglab.viz.quiz import Option, Quiz, QuizQuestion
from aglab.viz.standalone import save_page
from aglab.viz.storage import io_matrix
from aglab.viz.terminal import sparkline, terminal_table

__all__ = [
    "Answer",
    "ClusterPicture",
    "Explorable",
    "Figure",
    "Option",
    "Output",
    "Parameter",
    "Question",
    "Quiz",
    "QuizQuestion",
    "Table",
    "arms",
    "class_predictions",
    "cluster_picture",
    "comparison",
    "errors",
    "io_matrix",
    "load_arms",
    "load_explorable",
    "load_living",
    "parts",
    "save_page",
    "sparkline",
    "sweep_curve",
    "terminal_table",
    "time_series",
]
