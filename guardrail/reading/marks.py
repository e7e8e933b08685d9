"""Lists the marks of languages, whose points decide the language of a text."""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple

from guardrail.record import record


class Mark(NamedTuple):
    """A mark of a language and its points. It starts at the beginning of the text or after one of the signs in
    `behind`, or anywhere if that is None. A text with the mark contains one of `needs`, if there are any, in lower
    case."""

    points: int
    behind: str | None
    needs: tuple[str, ...]
    expression: str


@record
class Marks:
    """Marks of a language, which are searched for if the text contains one of the hints."""

    hints: tuple[str, ...]
    rows: tuple[Mark, ...]

    def points(self, text: str) -> int:
        """Returns the points of the marks that the text has."""
        for hint in self.hints:
            if hint in text:
                break
        else:
            return 0
        lowered = text.lower() if text.isascii() else ""  # other letters may have several lower-case spellings
        found = 0
        # Plain loops, since each text is searched for about forty marks.
        for points, behind, needs, expression in self.rows:
            if needs and lowered:
                for needed in needs:
                    if needed in lowered:
                        break
                else:
                    continue
            compiled = compiled_once(expression)
            if behind is not None:
                for sign in behind:
                    if sign in text:
                        break
                else:
                    found += points if compiled.match(text) is not None else 0
                    continue
            if compiled.search(text) is not None:
                found += points
        return found


@cache
def compiled_once(expression: str) -> re.Pattern[str]:
    """Compiles an expression when a text first needs it."""
    return re.compile(expression)


def _marks(hints: str, *rows: tuple[int, str | None, tuple[str, ...], str]) -> Marks:
    return Marks(tuple(hints.split(" ")), tuple(Mark(*row) for row in rows))


BASH = _marks(
    "$ [ && || > | = ; \n echo sudo",
    (
        2,
        "\n",
        ("if [", "then", "fi", "esac", "do", "for ", "while read", "case "),
        r"(?m)^\s*(?:if \[|then$|fi$|done$|esac$|do$|for \w+ in |while read|case .{1,80} in$)",
    ),
    (2, None, ("$(", "${", "]];", "[[ "), r"\$\(\(|\$\([a-z]|\$\{\w+[:#%/-]|\]\];|\[\[ "),
    (
        1,
        None,
        ("&& ", "|| ", "2>&1", ">/dev/null", "> /dev/null", " | "),
        r"&& |\|\| |2>&1|>/dev/null|> /dev/null| \| (?:grep|awk|sed|xargs|head|tail|sort|bash|sh|tee|jq|wc|cut|tr)\b",
    ),
    (
        1,
        "\n",
        (),
        r"(?m)^\s*(?:export|sudo|source|set -[eux]|echo|cd|apt-get|git|curl|rm|mkdir|chmod|docker|npm|pip)\s",
    ),
    (1, "\n", ("=",), r"(?m)^\w+=\S*$|^\w+=\S+ \w"),
)
POWERSHELL = _marks(
    "- $ [ | :\\ iex iwr gci",
    (
        4,
        "\n|;{(=&",
        ("-",),
        r"(?im)(?:^|[|{(=&]|(?<!\\);)\s*(?:get|set|new|remove|add|clear|start|stop|restart|invoke|import|export|out|write|test|select|where|foreach"
        r"|copy|move|rename|enable|disable|register|unregister|install|uninstall|update|convertto|convertfrom|format|measure"
        r"|sort|group|send|receive|connect|disconnect|enter|exit|expand|compress|join|split|resolve|wait|suspend|resume"
        r"|grant|revoke|protect|unprotect|unblock|block|mount|dismount|initialize|reset|restore|backup|checkpoint|debug"
        r"|publish|unpublish|save|find|search|show|hide|push|pop|read|repair|tee|use|optimize|undo)-[a-z][a-z0-9]{1,40}\b"
        r"(?=\s|$|;|\||\))(?![\w/.])",
    ),
    (
        3,
        "\n|;{(=&",
        ("-",),
        r"(?im)(?:^|[|;{(=&])\s*(?:ri|rni|mi|mp|ni|ci|cpi|cpp|gi|gp|si|sp|rp|rv|clc|cli|clp|gps|spps|saps|sasv|spsv|icm|ipmo"
        r"|gwmi|iwmi|rwmi|rjb)\s(?:[^|;\n]*\s)?-[a-z]{4,20}\b",
    ),
    (2, "", ("$",), r"^\s*\$\w+(?:\.\w+)*\.\w+\("),
    (
        3,
        None,
        ("$", "["),
        r"(?i)\$env:\w|\[(?:[a-z_][\w.]{0,80}\]::|(?:system|net|io|convert|text|environment|reflection)[\w.]*\]:|ref\]\."
        r"|(?:wmiclass|adsi|scriptblock)\]['\"$(])",
    ),
    (3, None, ("&", "`"), r"&\s*\(['\"$(]|[A-Za-z]`\w+-[A-Za-z]"),
    (
        3,
        None,
        ("new-object", "iex", "iwr", "irm", "gci"),
        r"(?i)\bnew-object\s|\biex\b|\biwr\b|\birm\b|\bgci\b.{0,80}\|",
    ),
    (
        2,
        None,
        ("-",),
        r"(?i)\s-(?:erroraction|recurse|literalpath|scriptblock|computername|argumentlist|outfile|usebasicparsing)\b",
    ),
    (
        2,
        None,
        ("|", "$", "@"),
        r"\|\s*(?:%|\?|foreach|where)\s*\{|\$_\.?|\$(?:null|true|false|PSItem|PSVersionTable)\b|@\{|@\(",
    ),
    (1, "\n", ("$",), r"(?m)^\s*\$\w+\s*=\s"),
    (
        1,
        None,
        ("-",),
        r"(?i)\s-(?:eq|ne|gt|lt|like|match|contains)\s['\"$\d]",
    ),
    (1, None, (":\\",), r"(?i)\b[a-z]:\\"),
)
CMD = _marks(
    "/ % \\ : nul rem del @ if for",
    (4, None, ("@echo off", "setlocal", "%~", "rem"), r"(?im)^\s*@echo off|^\s*setlocal\b|%~\w?\d|^\s*rem\s"),
    (
        3,
        "",
        ("/",),
        r"(?i)^\s*(?:del|erase|rd|rmdir|copy|move|xcopy|attrib|format|mklink|dir|ren|type|md)\s+(?:[^\n]{0,80}\s)?/[a-z]\b",
    ),
    (
        3,
        None,
        ("%",),
        r"(?i)%(?:userprofile|appdata|public|temp|tmp|systemroot|windir|programfiles|systemdrive|cd|localappdata|comspec)[:%]",
    ),
    (3, "", (":",), r"(?i)^\s*(?:format|diskpart|chkdsk)\s+[a-z]:"),
    (4, None, ("^",), r"\^[A-Za-z]{1,4}\^[A-Za-z]"),
    (3, None, ("%",), r"%\w{1,40}(?::~|%%\w)"),
    (3, "", ("&",), r"(?i)^\s*set\s+\"?\w{1,40}=[^\n]{0,200}&"),
    (3, None, ("\\",), r"(?i)(?:^|[\s\"=,])[a-z]:\\|\bhk(?:lm|cu|cr|u|ey_[a-z_]{5,20})\\"),
    (3, "", (".exe",), r"(?i)^\s*\"?(?:[\w.:\\/-]{1,200}\\)?[\w.-]+\.exe\b"),
    (
        3,
        "",
        (),
        r"(?i)^\s*(?:reg|schtasks|sc|net|net1|wmic|bcdedit|vssadmin|rundll32|regsvr32|certutil|bitsadmin|mshta|netsh"
        r"|taskkill|icacls|cacls|takeown|cipher|fsutil|wevtutil|powercfg|cscript|wscript|forfiles|msiexec|attrib|robocopy"
        r"|xcopy|findstr|wbadmin|dism|sfc|cmdkey|vaultcmd|esentutl|ntdsutil|msbuild|installutil|cmstp|odbcconf|regedit)\s",
    ),
    (
        3,
        None,
        ("for", "exist", "errorlevel", "set"),
        r"(?i)\bfor\s+/[frdl]\s|\bif\s+(?:not\s+)?(?:exist|errorlevel)\s|\bset\s+/[ap]\s",
    ),
    (2, "", (), r"(?i)^\s*(?:del|erase|rd|rmdir|copy|move|ren|type|md)\s+[\"']?[a-z]:\\|^\s*(?:del|erase)\s+\S"),
    (2, None, ("nul",), r"(?i)(?:>|2>)\s*nul\b"),
)
PYTHON = _marks(
    "( import class : =",
    (4, "\n", ("import",), r"(?m)^\s*(?:from [\w.]+ import |import \w[\w.]*(?:\s*$|\s*;|,| as ))"),
    (
        4,
        "\n",
        ("def ", "class "),
        r"(?m)^\s*(?:async )?def \w+\(.{0,200}\)[^\n]{0,80}:|^\s*class \w+[^\n]{0,80}:\s*$",
    ),
    (
        3,
        "\n",
        (":", "with open(", "elif "),
        r"(?m)^\s*(?:with open\(|try:\s*$|except\b[^\n]{0,80}:|for \w+ in [^\n]{1,80}:\s*$|if [^\n]{1,80}:\s*$|elif )",
    ),
    (
        3,
        None,
        (".",),
        r"\b(?:os|shutil|subprocess|pathlib|sys|socket|requests|urllib|boto3|builtins|importlib|tempfile)\.\w+[.(]",
    ),
    (3, None, ("(",), r"(?:^|[\s=;])(?:exec|eval|open|__import__|print|Path|getattr)\("),
    (
        2,
        None,
        ("=", "none", "true", "false", "lambda", "f'", 'f"'),
        r"(?m)^\s*\w+\s=\s\w[\w.]*\(|\bNone\b|\bTrue\b|\bFalse\b|\blambda \w*:|f['\"]",
    ),
)
JAVASCRIPT = _marks(
    "( => = ; import",
    (4, "\n", ("const", "let", "var"), r"(?m)^\s*(?:const|let|var)\s+[\w{}\[\], ]{1,80}\s*=\s"),
    (
        4,
        None,
        ("require(", "import", "module.exports"),
        r"\brequire\(['\"]|^\s*import\s+[\w{}*, ]{1,80}\s+from\s+['\"]|\bmodule\.exports\b|\bimport\(['\"]",
    ),
    (
        3,
        None,
        ("=>", "function", "await"),
        r"=>\s*[{(\w]|\bfunction\s*\w*\([^)]{0,80}\)\s*\{|\bawait\s+\w[\w.$]*[(`]",
    ),
    (3, None, (".",), r"\b(?:fs|fsPromises|child_process|process|console|document|window|axios|JSON)\.\w+\("),
    (2, None, (";",), r"(?m);\s*$"),
)
LANGUAGE_MARKS = (BASH, POWERSHELL, CMD, PYTHON, JAVASCRIPT)
