"""The directive ``command-reference``: every command and option, from the parsers themselves."""

from argparse import HelpFormatter
from functools import partial

from docutils import nodes
from docutils.parsers.rst import Directive

from linkwise.cli.arguments import parser


def commands():
    """Return (name, parser) of every command, in the order of ``linkwise --help``."""
    choices = parser()._subparsers._group_actions[0].choices
    return list(choices.items())


def usage(command):
    """Return the usage of a command, without the word that argparse begins it with."""
    command.formatter_class = partial(HelpFormatter, width=66)
    return command.format_usage().removeprefix("usage: ").rstrip()


def term(action):
    """Return how an option or argument is written."""
    if not action.option_strings:
        return action.metavar or action.dest
    value = "" if action.nargs == 0 else f" {action.metavar or action.dest.upper()}"
    return ", ".join(f"{name}{value}" for name in action.option_strings)


def definition(action):
    """Return an item of a definition list for an option or argument."""
    text = (action.help or "").replace("%%", "%")
    if "%(default)s" in text:
        text = text.replace("%(default)s", str(action.default))
    return nodes.definition_list_item(
        "",
        nodes.term("", "", nodes.literal("", term(action))),
        nodes.definition("", nodes.paragraph("", text)),
    )


class CommandReference(Directive):
    """Insert a section for every command."""

    def run(self):
        sections = []
        for name, command in commands():
            section = nodes.section(ids=[f"linkwise-{name}"], names=[f"linkwise {name}"])
            section += nodes.title("", "", nodes.literal("", f"linkwise {name}"))
            section += nodes.paragraph("", command.description)
            section += nodes.literal_block(usage(command), usage(command), language="none")
            section += nodes.definition_list(
                "",
                *(definition(action) for action in command._actions[1:]),  # after --help
            )
            if command.epilog:
                section += nodes.literal_block(command.epilog, command.epilog, language="none")
            sections.append(section)
        return sections


def setup(app):
    app.add_directive("command-reference", CommandReference)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
