"""The look of the plots."""

from radixpic.script import Problem

# Okabe and Ito's colours, told apart by colour-blind readers too.
BLUE, ORANGE, GREEN, PURPLE, SKY, RED = "#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00"
CYCLE = [BLUE, RED, GREEN, ORANGE, PURPLE, SKY]


def import_pyplot(show):
    """matplotlib.pyplot in the project's look; without a display unless the plot is to be shown."""
    try:
        import matplotlib

        if not show:
            matplotlib.use("Agg")
        import matplotlib.pyplot as plt
    except ImportError:
        raise Problem("matplotlib is missing: install python3-matplotlib and run with /usr/bin/python3") from None
    plt.rcParams.update(
        {
            "figure.dpi": 110,
            "savefig.dpi": 160,
            "font.size": 10,
            "axes.titlesize": 10.5,
            "axes.titlelocation": "left",
            "axes.spines.top": False,
            "axes.spines.right": False,
            "axes.prop_cycle": plt.cycler(color=CYCLE),
            "axes.grid": True,
            "grid.color": "#dddddd",
            "grid.linewidth": 0.6,
            "lines.linewidth": 1.6,
            "legend.frameon": False,
            "legend.fontsize": 9,
            "figure.constrained_layout.use": True,
        }
    )
    return plt


def save(figure, path, show=False):
    """Writes a picture, says where, and with `show` opens its window."""
    try:
        figure.savefig(path, bbox_inches="tight")
    except (OSError, ValueError) as error:
        raise Problem(f"cannot write {path}: {error}") from None
    print(path)
    if show:
        import matplotlib.pyplot as plt

        plt.show()
