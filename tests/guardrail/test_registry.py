"""Keys of the Windows registry are recognized by what they start, switch off or protect."""

from __future__ import annotations

import pytest

from guardrail.registry import is_password_store, meaning_of_change, meaning_of_reading, meaning_of_removal, normal_key

RUN = r"HKCU\Software\Microsoft\Windows\CurrentVersion\Run"
DEFENDER = r"HKLM:\SOFTWARE\Policies\Microsoft\Windows Defender"
ADVANCED = r"HKCU\Software\Microsoft\Windows\CurrentVersion\Explorer\Advanced"
POLICIES = r"HKLM\SOFTWARE\Microsoft\Windows\CurrentVersion\Policies\System"
DEBUGGER = r"HKLM\SOFTWARE\Microsoft\Windows NT\CurrentVersion\Image File Execution Options\osk.exe"


@pytest.mark.parametrize(
    ("key", "value", "data", "kind"),
    [
        (RUN, "x", r"C:\x.exe", "persist"),
        (r"HKCU\Software\MyApp", "Run", "1", None),
        (DEBUGGER, "Debugger", "cmd.exe", "persist"),
        (r"HKCU\Software\Classes\ms-settings\shell\open\command", "", "cmd.exe", "persist"),
        (r"HKLM\SYSTEM\CurrentControlSet\Services\X", "ImagePath", r"C:\x.exe", "persist"),
        (r"HKLM\SYSTEM\CurrentControlSet\Services\X", "Description", "text", None),
        (DEFENDER, "DisableAntiSpyware", "1", "disable"),
        (DEFENDER, "DisableAntiSpyware", "0x0", None),
        (POLICIES, "EnableLUA", "0", "disable"),
        (POLICIES, "EnableLUA", "1", None),
        (POLICIES, "DisableTaskMgr", "1", "disable"),
        (r"HKLM\SYSTEM\CurrentControlSet\Control\Lsa", "DisableRestrictedAdmin", "0", "disable"),
        (ADVANCED, "HideFileExt", "1", "disable"),
        (ADVANCED, "HideFileExt", "0", None),
        (r"HKLM\SYSTEM\CurrentControlSet\Control\FileSystem", "LongPathsEnabled", "1", None),
    ],
)
def test_a_value_means_what_windows_does_with_it(key: str, value: str, data: str, kind: str | None) -> None:
    meaning = meaning_of_change(key, value, data)
    assert (meaning and meaning.kind.value) == kind


@pytest.mark.parametrize(
    ("key", "value", "is_secret"),
    [
        (r"HKLM\SOFTWARE\Microsoft\Windows NT\CurrentVersion\Winlogon", "DefaultPassword", True),
        (r"HKLM\SOFTWARE\Microsoft\Windows NT\CurrentVersion\Winlogon", "Shell", False),
        (r"HKCU\Software\SimonTatham\PuTTY\Sessions", "", True),
        (r"HKLM\SAM", "", True),
        (r"HKLM\SOFTWARE\Microsoft\Windows NT\CurrentVersion", "ProductName", False),
    ],
)
def test_some_keys_hold_passwords(key: str, value: str, is_secret: bool) -> None:
    assert (meaning_of_reading(key, value) is not None) is is_secret


@pytest.mark.parametrize(
    ("key", "value", "weakens"),
    [
        (r"HKLM\Software\Microsoft\AMSI\Providers\{2781761E}", "", True),
        (DEFENDER, "DisableAntiSpyware", False),
        (RUN, "x", False),
    ],
)
def test_removing_the_settings_of_a_defence_weakens_it(key: str, value: str, weakens: bool) -> None:
    assert (meaning_of_removal(key, value) is not None) is weakens


@pytest.mark.parametrize(
    "spelled",
    [r"HKLM:\SAM", r"HKEY_LOCAL_MACHINE\SAM", r"Registry::HKEY_LOCAL_MACHINE\SAM", r"hklm\\sam", '"HKLM\\SAM"'],
)
def test_a_key_has_one_spelling(spelled: str) -> None:
    assert normal_key(spelled) == "hklm/sam" and is_password_store(spelled)
