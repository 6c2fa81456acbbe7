"""Sphinx configuration of the site; `make docs` builds it."""

import os
import re
import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "extensions"))
os.environ.setdefault("OMP_NUM_THREADS", "1")  # the examples are small

import linkwise  # noqa: E402

project = "linkwise"
author = "The linkwise developers"
copyright = author
version = release = linkwise.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "myst_parser",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "mathml",
    "command_reference",
]
exclude_patterns = ["extensions", "results/*.html", "results/*.json"]
templates_path = ["_templates"]
html_static_path = ["_static"]
html_css_files = ["site.css"]
# the configuration holds functions; a page that only links lead to is no fault
suppress_warnings = ["config.cache", "toc.not_included"]

# Markdown
myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 4

# Docstrings
autosummary_generate = True
autodoc_typehints = "none"  # the docstrings say more than the annotations
numpydoc_show_class_members = False
numpydoc_xref_param_type = False
default_role = "py:obj"
html_math_renderer = "mathml"

# Theme
html_theme = "pydata_sphinx_theme"
html_title = "linkwise"
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "logo": {"text": "linkwise"},
    "header_links_before_dropdown": 6,
    "navbar_align": "left",
    "show_prev_next": False,
    "navigation_with_keys": False,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
html_sidebars = {"index": []}


def set_style(gallery_conf, name):
    """Give the pictures of all examples one style, without a background."""
    import matplotlib as mpl

    mpl.rcdefaults()
    mpl.use("agg")
    mpl.rcParams.update(
        {
            "savefig.transparent": True,
            "figure.constrained_layout.use": True,
            "figure.figsize": (7.2, 3.4),
            "font.size": 10,
            "axes.titlesize": 11,
            "axes.spines.top": False,
            "axes.spines.right": False,
            "axes.prop_cycle": mpl.cycler(color=linkwise.plot.maps.PALETTE),
            "lines.markersize": 4,
            "legend.frameon": False,
        }
    )


sphinx_gallery_conf = {
    "examples_dirs": [f"../examples/{part}" for part in ("gallery", "methods", "tutorials")],
    "gallery_dirs": ["gallery", "methods", "tutorials"],
    "filename_pattern": r"plot_",
    "within_subsection_order": "FileNameSortKey",
    "reset_modules": (set_style,),
    "download_all_examples": False,
    "show_signature": False,
    "show_memory": False,
    "min_reported_time": 1e9,  # the times depend on the machine
    "write_computation_times": False,
    "remove_config_comments": True,
    "abort_on_example_error": True,
    "only_warn_on_example_error": False,
    "log_level": {"backreference_missing": "info"},
    "doc_module": ("linkwise",),
    "backreferences_dir": "gallery/by_name",
    "nested_sections": False,
    "image_srcset": ["2x"],
    "thumbnail_size": (360, 240),
    "capture_repr": ("_repr_html_", "__repr__"),
    "plot_gallery": "True",
}


def escape_names(app, what, name, obj, options, lines):
    """Keep names such as labels_ from being read as links; numpydoc has gone before."""
    for i, line in enumerate(lines):
        lines[i] = re.sub(r"(?<![\w`*.:\\])([A-Za-z]\w*)_(?=[\s,.;)\]]|$)", r"\1\_", line)


def leave_out_inherited(app, what, name, obj, skip, options):
    """Leave out what scikit-learn gives every estimator, such as set_fit_request."""
    return skip or (getattr(obj, "__module__", "") or "").startswith("sklearn.")


def setup(app):
    app.connect("autodoc-skip-member", leave_out_inherited)
    app.connect("autodoc-process-docstring", escape_names, priority=900)
