"""Pictures and movies of quantities at several times: planes in colours, or lines that step from bin to bin."""

import io
import math
from pathlib import Path
from typing import NamedTuple

from radixpic import look
from radixpic.script import Problem, numpy as np, picture_path


class Row(NamedTuple):
    """A quantity at several times."""

    times: list  # a label for each
    frames: list  # for each time [the plane, indexed along its two axes], or a list of lines
    ranges: list  # [low, high] of a plane along both axes, or of each line
    labels: tuple  # of the axes of a plane, or of the lines' one; with units
    label: str  # of the values, with the unit
    names: tuple = (None,)  # of lines, for the legend
    signed: bool = False  # a field: colours are symmetric about 0 if its sign changes, and do not begin at 0 otherwise
    equal: bool = False  # as long along one axis as along the other

    @property
    def is_plane(self):
        return np.ndim(self.frames[0][0]) == 2

    def extremes(self, above=-math.inf):
        """The least value above this one, and the largest; of all frames."""
        values = [array[array > above] for frame in self.frames for array in frame]
        values = [array for array in values if array.size]
        if not values:
            raise Problem(f"{self.label} has no value that a logarithmic scale shows, for none is positive")
        return min(map(np.min, values)), max(map(np.max, values))


def range_of(row, limits, log):
    """(low, high) of the colours or of the lines' axis."""
    low, high = row.extremes()
    if log and low < 0:
        raise Problem(f"{row.label} has negative values, which a logarithmic scale cannot show")
    if log:
        low, high = row.extremes(above=0)
        room = 1 if row.is_plane else 1.5
        return limits or (low / room if low < high else low / 10, high * room)
    if limits:
        return limits
    if row.is_plane and row.signed:
        return (-max(-low, high), max(-low, high)) if low < 0 < high else (low, high)
    room = 0 if row.is_plane else 0.05
    low = low - room * (high - low) if row.signed else 0
    return low, high + room * (high - low) if high > low else low + 1


def ranges_of(row, count, limits, log, own=False):
    """(low, high) for each of `count` panels: one for all, or with `own` each panel's, 0 in the middle where it is in
    that for all."""
    whole = range_of(row, limits, log)
    if limits or log or not own or count == 1:
        return [tuple(whole)] * count
    ranges = [
        range_of(row._replace(frames=[frame]), limits, log) if any(map(np.ptp, frame)) else whole
        for frame in row.frames
    ]
    if row.is_plane and whole[0] == -whole[1]:
        ranges = [(-max(-low, high), max(-low, high)) for low, high in ranges]
    return ranges


def set_up_planes(plt, figure, row, panels, ranges, log):
    """For each panel a function that shows a plane in it; one colour bar for all, and each panel's range above it where
    they differ."""
    import matplotlib.colors

    (low, high), own = ranges[0], len(set(ranges)) > 1
    norms = [(matplotlib.colors.LogNorm if log else matplotlib.colors.Normalize)(*ends) for ends in ranges]
    centred = low == -high and high > 0
    colours = "magma" if not row.signed else "RdBu_r" if centred else "viridis"
    images = [
        panel.imshow(row.frames[0][0].T, origin="lower", extent=(*row.ranges[0], *row.ranges[1]),
            aspect="equal" if row.equal else "auto", interpolation="nearest", cmap=colours, norm=norm)
        for panel, norm in zip(panels, norms)
    ]
    for panel in panels:
        panel.grid(False)
        panel.set_facecolor(plt.get_cmap(colours)(0.0))  # where a logarithmic scale has no colour: of values that are 0
    least, most = row.extremes()
    beyond = {(True, True): "both", (True, False): "min", (False, True): "max", (False, False): "neither"}
    ends = bool(least < low and not log and not own), bool(most > high and not own)
    bar = figure.colorbar(images[0], ax=panels, pad=0.015, extend=beyond[ends])
    bar.set_label(row.label + ("\neach panel: range above it" if own else ""))
    if own:
        bar.set_ticks([low, 0, high] if centred else [low, high],
            labels=["lowest", "0", "highest"][:: 1 if centred else 2])
        for panel, (low, high) in zip(panels, ranges):
            panel.set_title(rf"$\pm${high:.3g}" if centred else f"{low:.4g} to {high:.4g}", loc="right")
    elif not log:
        bar.formatter.set_powerlimits((-2, 4))
        bar.formatter.set_useMathText(True)
    return [lambda frame, image=image: image.set_data(frame[0].T) for image in images]


def set_up_lines(plt, figure, row, panels, ranges, log):
    """The same for lines, with a legend beside the last panel."""
    shows = []
    for panel, ends in zip(panels, ranges):
        lines = [
            panel.stairs(values, np.linspace(low, high, len(values) + 1), label=name, color=f"C{number}", baseline=None,
                linewidth=1.6)
            for number, (values, (low, high), name) in enumerate(zip(row.frames[0], row.ranges, row.names))
        ]
        panel.set_axisbelow(True)  # the lines over the grid
        panel.set_yscale("log" if log else "linear")
        panel.set_ylim(*ends)
        shows.append(lambda frame, lines=lines: [line.set_data(values) for line, values in zip(lines, frame)])
    if any(row.names):
        look.legend_beside(panels[-1])
    return shows


def lay_out(plt, rows, count, title, limits, log, own=False, size=None):
    """A figure with `count` panels for each row, on shared axes, and for each row the functions (panel, show)."""
    columns = count if count <= (3 if len(rows) == 1 else 5) else math.ceil(math.sqrt(count))
    lines = -(-count // columns)  # of panels, for one row
    is_plane = rows[0].is_plane
    shape = min(max(np.ptp(rows[0].ranges[1]) / np.ptp(rows[0].ranges[0]), 0.3), 2) if rows[0].equal else 0.8
    width = max(12.6 / max(columns, 3), 2.2)
    size = size or (1.4 + width * columns, 0.8 + (width * shape + 0.3) * lines * len(rows))
    figure = plt.figure(figsize=size, layout="compressed")
    figure.suptitle(title)
    grid = figure.subplots(lines * len(rows), columns, squeeze=False, sharex=True, sharey=is_plane)
    shown = []
    for number, row in enumerate(rows):
        panels = list(grid[number * lines : (number + 1) * lines].ravel())
        for panel in panels[count:]:
            panel.axis("off")
        panels = panels[:count]
        ranges = ranges_of(row, count, limits, log, own)
        set_up = set_up_planes if is_plane else set_up_lines
        shows = set_up(plt, figure, row, panels, ranges, log)
        shown.append(list(zip(panels, shows)))
        for place, panel in enumerate(panels):
            axis = "both" if not log or is_plane else "x"
            panel.ticklabel_format(axis=axis, style="sci", scilimits=(-2, 4), useMathText=True)
            if place % columns == 0:
                panel.set_ylabel(row.labels[1] if is_plane else row.label)
            if place + columns >= count and number == len(rows) - 1:  # the last line of panels may be shorter
                panel.set_xlabel(row.labels[0])
                panel.tick_params(labelbottom=True)
    ranges = zip(*(row.ranges for row in rows)) if is_plane else [[one for row in rows for one in row.ranges]]
    for set_limits, of_rows in zip((grid[0, 0].set_xlim, grid[0, 0].set_ylim), ranges):
        set_limits(min(low for low, _ in of_rows), max(high for _, high in of_rows))
    return figure, shown


def draw(plt, rows, title="", limits=None, log=False, own=False):
    """A figure with a panel for each time, in a line (or more) for each row, of one range or each of its own."""
    figure, shown = lay_out(plt, rows, len(rows[0].times), title, limits, log, own)
    for row, panels in zip(rows, shown):
        for time, frame, (panel, show) in zip(row.times, row.frames, panels):
            show(frame)
            panel.set_title(time)
    return figure


def writer_for(path, rate):
    """What writes a movie to this path; a Problem if it is not there."""
    from matplotlib import animation

    if path.suffix == ".gif":
        return gif_writer(animation.AbstractMovieWriter, rate)
    if not animation.writers.is_available("ffmpeg"):
        raise Problem(f"cannot write {path}: ffmpeg is missing: install ffmpeg, or write a .gif")
    return animation.writers["ffmpeg"](fps=rate)


def gif_writer(base, rate):
    """A writer of matplotlib with one palette of 256 colours for all frames: Pillow alone chooses a few dozen for
    each."""
    from PIL import Image

    class Writer(base):
        def setup(self, fig, outfile, dpi=None):
            super().setup(fig, outfile, dpi)
            self.frames = []

        def grab_frame(self, **options):
            pixels = io.BytesIO()
            self.fig.savefig(pixels, format="rgba", dpi=self.dpi, **options)
            pixels = np.frombuffer(pixels.getvalue(), np.uint8).reshape(*self.frame_size[::-1], 4)
            self.frames.append(pixels[..., :3] @ np.array([65536, 256, 1]))  # a number for each colour

        def finish(self):
            colours = np.unique(np.concatenate([np.unique(frame) for frame in self.frames]))
            channels = np.stack([colours >> shift & 255 for shift in (16, 8, 0)], axis=1)
            every = Image.fromarray(channels[None].astype(np.uint8))
            every = every.quantize(256, method=Image.MAXCOVERAGE)
            places, palette = np.asarray(every)[0], np.reshape(every.getpalette(), (-1, 3))
            palette[places[-1]] = 255  # the background stays white
            images = [Image.fromarray(places[np.searchsorted(colours, frame)]) for frame in self.frames]
            options = {"palette": palette.astype(np.uint8).tobytes(), "duration": int(1000 / self.fps), "loop": 0}
            images[0].save(self.outfile, save_all=True, append_images=images[1:], **options)

    return Writer(fps=rate)


def write_movie(plt, rows, writer, path, title="", limits=None, log=False, size=None, dpi=110):
    """A frame for each time, with a panel for each row."""
    figure, shown = lay_out(plt, rows, 1, title, limits, log, size=size or (6.4, 1.2 + 3.6 * len(rows)))
    try:
        with writer.saving(figure, path, dpi=dpi):
            for number, time in enumerate(rows[0].times):
                for row, ((panel, show),) in zip(rows, shown):
                    show(row.frames[number])
                shown[0][0][0].set_title(time)
                if not number:  # the layout of the first frame is that of all: to find it takes longer than to draw one
                    figure.draw_without_rendering()
                    figure.set_layout_engine("none")
                writer.grab_frame()
    except (OSError, ValueError) as error:
        raise Problem(f"cannot write {path}: {error}") from None
    plt.close(figure)


def deliver(arguments, rows, title, name):
    """Writes the picture or the movie that the options of a script ask for."""
    plt = look.import_pyplot(arguments.show)
    title = arguments.title or title
    if arguments.movie:
        writer = writer_for(Path(arguments.movie), arguments.rate)
        write_movie(plt, rows, writer, arguments.movie, title, arguments.limits, arguments.log)
        print(arguments.movie)
    else:
        figure = draw(plt, rows, title, arguments.limits, arguments.log, arguments.own_ranges)
        look.save(figure, picture_path(arguments, name), arguments.show)
