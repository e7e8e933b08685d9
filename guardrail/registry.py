"""The meaning of keys of the Windows registry: values that start programs, that switch a defence off, or that contain
passwords. A key is judged together with the value's name and data, if the action states them."""

from __future__ import annotations

import re
from functools import lru_cache

from guardrail.record import record
from guardrail.vocabulary import EffectKind, ObjectKind

LONGEST_KEY = 1_024

_HIVES = (
    ("hkey_local_machine", "hklm"),
    ("hkey_current_user", "hkcu"),
    ("hkey_classes_root", "hkcr"),
    ("hkey_users", "hku"),
)


@record
class KeyMeaning:
    """The further effect of changing or reading a key."""

    kind: EffectKind
    object: ObjectKind
    reason: str


_STARTS = KeyMeaning(EffectKind.PERSIST, ObjectKind.PROCESS, "makes Windows start a program or library automatically")
_DEFENCE = KeyMeaning(EffectKind.DISABLE, ObjectKind.SERVICE, "changes a defence or a policy of the system")
_PASSWORDS = KeyMeaning(EffectKind.READ, ObjectKind.CREDENTIAL, "reads stored passwords")


def _any(*expressions: str) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{expression})" for expression in expressions))


_STARTS_PROGRAMS = _any(
    # at logon and at boot: https://learn.microsoft.com/windows/win32/setupapi/run-and-runonce-registry-keys
    r"/currentversion/(?:run|runonce|runonceex|runservices|runservicesonce)(?:/|$)",
    r"/policies/explorer/run(?:/|$)",
    r"/windows nt/currentversion/winlogon(?:/notify|/gpextensions|$)",
    r"/windows nt/currentversion/winlogon/(?:shell|userinit|taskman|system|vmapplet|uihost)$",
    r"/windows nt/currentversion/windows/(?:load|run|appinit_dlls|loadappinit_dlls)$",
    r"/policies/system/shell$",
    r"/active setup/installed components",
    r"/environment/(?:userinitmprlogonscript|cor_profiler|cor_enable_profiling|coreclr_profiler)",
    r"/command processor/autorun$",
    r"/group policy/scripts/(?:logon|startup|shutdown|logoff)",
    r"/control panel/desktop/scrnsave\.exe$",
    r"/explorer/(?:user )?shell folders/(?:common )?startup$",
    # started instead of a program, together with it or when it ends
    r"/image file execution options/.+/(?:debugger|globalflag|verifierdlls|monitorprocess)$",
    r"/image file execution options/[^/]+\.exe$",
    r"/silentprocessexit/",
    r"/app paths/[^/]+\.exe",
    r"/shell/[^/]+/command(?:/|$)",
    r"/delegateexecute$",
    r"/(?:inprocserver32|localserver32|treatas|scriptleturl|progid)(?:/|$)",
    r"/shellex/(?:contextmenuhandlers|iconhandler|propertysheethandlers)",
    r"/explorer/(?:browser helper objects|shellexecutehooks|shelliconoverlayidentifiers|sharedtaskscheduler)",
    r"/shellserviceobject(?:delayload|s)",
    r"/htmlhelp author/location|/aedebug(?:/|$)|/windows error reporting/hangs/debugger|/telemetrycontroller/",
    r"/accessibility/(?:ats/|configuration$)",
    # libraries and drivers that the system loads
    r"/services/[^/]+/(?:imagepath|failurecommand|parameters/servicedll|performance/library|networkprovider/providerpath)$",
    r"/services/(?:w32time/timeproviders|winsock2/parameters|dns/parameters/serverlevelplugindll|np)(?:/|$)",
    r"/control/print/(?:monitors|environments/[^/]+/print processors)",
    r"/control/lsa/(?:authentication packages|security packages|notification packages|osconfig)",
    r"/control/securityproviders(?:/securityproviders)?$|/control/networkprovider/order",
    r"/control/session manager/(?:bootexecute|setupexecute|appcertdlls|knowndlls|subsystems|pendingfilerename)",
    r"/control/terminal server/(?:wds|addins)|/winstations/[^/]+/initialprogram$",
    r"/microsoft/netsh(?:/|$)|/amsi/providers/|/microsoft/ctf/langbaraddin/",
    r"/cryptography/(?:oid|providers/trust|defaults/provider)/",
    r"/office test/special/perf|/office/[\d.]+/[a-z]+/(?:addins|options/open\d*$|webview/)|/office/[a-z]+/addins/",
)
_DEFENCES = _any(
    r"/windows defender(?: security center)?(?:/|$)|/security center(?:/|$)|/windows advanced threat protection",
    r"/microsoft antimalware|/securityhealth|/amsi(?:/|$)|/amsienable$|/smartscreen",
    r"/control/lsa(?:/|$)|/securityproviders/(?:wdigest|schannel)|/control/deviceguard|/credentialguard|/control/ci/",
    r"/powershell/(?:scriptblocklogging|modulelogging|transcription)|/shellids/microsoft\.powershell/executionpolicy",
    r"/(?:eventlog|autologger|winevt)/|/services/eventlog(?:/|$)|/control/minint",
    r"/etwenabled$|/complus_etwenabled$|/windows script host/settings",
    r"/firewallpolicy/|/windowsfirewall/|/services/(?:sharedaccess|mpssvc|windefend|wdfilter|wdboot|wdnissvc|sense|wscsvc"
    r"|securityhealthservice|sysmon\w*|sysmondrv|vss|wbengine|wuauserv)(?:/|$)",
    r"/control/safeboot|/systemrestore(?:/|$)|/windowsupdate/",
    r"/control/terminal server/(?:fdeny|fsingle|allow|userauth)",
    r"/winstations/rdp-tcp/(?:userauthentication|securitylayer|shadow)",
    r"/internet settings/(?:zonemap|zones|lockdown_zones)",
    r"/office/[\d.]+/[a-z]+/security(?:/|$)|/office/[\d.]+/common/security",
    r"/(?:enablelua|consentpromptbehavior\w*|promptonsecuredesktop|localaccounttokenfilterpolicy|tamperprotection)$",
    r"/(?:uselogoncredential|fdenytsconnections|runasppl|limitblankpassworduse|lmcompatibilitylevel|nolmhash)$",
    r"/winlogon/(?:specialaccounts/userlist|legalnotice\w+|autoadminlogon|defaultpassword|shutdownwithoutlogon)",
    r"/dontdisplaylastusername$|/crashcontrol/|/exploit guard|/mitigationoptions$",
)
_POLICIES = re.compile(r"/policies/")
_SWITCHES_OFF = re.compile(r"/(?:disable|no(?=[a-z]{3})|block|prevent|hide|restrict)\w*$")
_HIDES = re.compile(r"/explorer/advanced/(?:hidefileext/0*x?0*1|hidden/0*x?0*2|showsuperhidden/0*x?0+)$")
_SWITCHES_ON = re.compile(r"/(?:enable|allow|turnon|show)\w*$")
_READ_PASSWORDS = _any(
    r"^hklm/(?:sam|security)(?:/|$)|/windows nt/currentversion/winlogon(?:/(?:alt)?defaultpassword)?$",
    r"/simontatham/putty/sessions|/openssh/agent/keys|/winscp 2/(?:sessions|configuration)",
    r"/(?:realvnc|tightvnc|tigervnc|uvnc|orl/winvnc)[^/]*(?:/|$)|/teamviewer(?:/|$)",
    r"/snmp/parameters/(?:validcommunities|trapconfiguration)",
    r"/intelliforms/|/outlook/profiles|/windows messaging subsystem/profiles|/idcrl/usernames",
    r"/securityproviders/wdigest$|/cryptography/protect|/microsoft/protected storage",
)
_STORES = re.compile(r"^hklm/(?:sam|security|system)$")


def normal_key(text: str) -> str:
    """Normalises the spelling of a key: lower case, `/` between its parts, the short name of its hive."""
    key = text.strip().strip("'\"")[:LONGEST_KEY].lower().replace("\\", "/")
    for prefix in ("microsoft.powershell.core/", "registry::", "computer/"):
        key = key.removeprefix(prefix)
    while "//" in key:
        key = key.replace("//", "/")
    for long, short in _HIVES:
        if key.startswith(long):
            key = short + key[len(long) :]
    hive, colon, rest = key.partition(":")
    if colon and "/" not in hive:
        key = f"{hive}/{rest.lstrip('/')}"
    return key.rstrip("/")


@lru_cache(maxsize=512)
def meaning_of_change(key: str, value: str = "", data: str = "") -> KeyMeaning | None:
    """Returns the meaning of setting a value. `value` is its name and `data` the new content, "" if unknown."""
    full = normal_key(key)
    if value:
        full = f"{full}/{value.lower()}"
    if _STARTS_PROGRAMS.search(full) is not None:
        return _STARTS
    number = data.strip().lower()
    is_off = number in ("0", "0x0", "0x00000000", "00000000", "$false", "false")
    switches_off = _SWITCHES_OFF.search(full) is not None
    if (switches_off and is_off and "/control/lsa/" not in full) or (
        number and not is_off and number[-1:] == "1" and _SWITCHES_ON.search(full)
    ):
        return None  # switched on again
    if _DEFENCES.search(full) is not None or _POLICIES.search(f"{full}/") is not None:
        return _DEFENCE
    if switches_off and value.lower().startswith("disable"):
        return _DEFENCE
    return _DEFENCE if _HIDES.search(f"{full}/{number}") is not None else None


@lru_cache(maxsize=512)
def meaning_of_removal(key: str, value: str = "") -> KeyMeaning | None:
    """Returns the meaning of removing a key or value: a defence without settings is off."""
    full = normal_key(key)
    if value:
        full = f"{full}/{value.lower()}"
    if _SWITCHES_OFF.search(full) is not None or _DEFENCES.search(full) is None:
        return None
    return _DEFENCE


@lru_cache(maxsize=512)
def meaning_of_reading(key: str, value: str = "") -> KeyMeaning | None:
    """Returns the meaning of showing a key or of copying it as a whole hive."""
    full = normal_key(key)
    if value:
        full = f"{full}/{value.lower()}"
    return _PASSWORDS if _READ_PASSWORDS.search(full) is not None else None


def is_password_store(key: str) -> bool:
    """Decides whether a copy of the hive contains passwords."""
    return _STORES.match(normal_key(key)) is not None
