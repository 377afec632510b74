"""The look of the plots."""

from contextlib import contextmanager

from radixpic.script import Problem, numpy as np

# Okabe and Ito's colours, told apart by colour-blind readers too.
BLUE, ORANGE, GREEN, PURPLE, SKY, RED = "#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00"
CYCLE = [BLUE, RED, GREEN, ORANGE, PURPLE, SKY]


def look_of(plt):
    """The settings of matplotlib."""
    return {
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


def _pyplot(backend=None):
    try:
        import matplotlib

        if backend:
            matplotlib.use(backend)
        import matplotlib.pyplot as plt
    except ImportError:
        raise Problem("matplotlib is missing: install python3-matplotlib and run with /usr/bin/python3") from None
    return plt


def import_pyplot(show):
    """matplotlib.pyplot in the project's look; without a display unless the plot is to be shown."""
    plt = _pyplot(None if show else "Agg")
    plt.rcParams.update(look_of(plt))
    return plt


@contextmanager
def pyplot():
    """matplotlib.pyplot in the look, which does not stay."""
    plt = _pyplot()
    with plt.rc_context(look_of(plt)):
        yield plt


def part_of(plt, name, end):
    """A map of colours up to this end of one, before what is too bright on white."""
    from matplotlib.colors import ListedColormap

    return ListedColormap(plt.get_cmap(name)(np.linspace(0, end, 256)))


def legend_beside(axes):
    """Outside, where no curve can be under it."""
    axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), borderaxespad=0.2, handlelength=1.6)


def write(figure, path):
    """Writes a picture."""
    try:
        figure.savefig(path, bbox_inches="tight")
    except (OSError, ValueError) as error:
        raise Problem(f"cannot write {path}: {error}") from None


def save(figure, path, show=False):
    """Writes it, says where, and with `show` opens its window."""
    write(figure, path)
    print(path)
    if show:
        import matplotlib.pyplot as plt

        plt.show()
