"""PowerShell's own names: aliases, approved verbs, short names of types, and .NET methods with the effect of a
cmdlet."""

from __future__ import annotations

_ALIASES = """
rm del erase rd ri rmdir remove-item | cp copy cpi copy-item | mv move mi move-item | ren rni rename-item
ni md mkdir new-item | gc type cat get-content | sc set-content | ac add-content | clc clear-content
cli clear-item
gci dir ls get-childitem | gi get-item | gp get-itemproperty | sp set-itemproperty
si set-item | rp remove-itemproperty
iex invoke-expression | iwr curl wget invoke-webrequest | irm invoke-restmethod | icm invoke-command | ii invoke-item
saps start start-process | spps kill stop-process | gps ps get-process | sasv start-service | spsv stop-service
gsv get-service | sajb start-job | rjb remove-job | gjb get-job | rcjb receive-job
cd chdir sl set-location | pushd push-location | popd pop-location | pwd gl get-location
echo write write-output | foreach % foreach-object | where ? where-object | select select-object | sort sort-object
measure measure-object | group group-object | tee tee-object | sls select-string | ft format-table | fl format-list
fw format-wide | oh out-host | ogv out-gridview | lp out-printer | epcsv export-csv | ipcsv import-csv
ipmo import-module | gmo get-module | rmo remove-module | nmo new-module | gal get-alias | sal set-alias | nal new-alias
gcm get-command | gm get-member | gv get-variable | sv set set-variable | nv new-variable | rv remove-variable
clv clear-variable | h history ghy get-history | clhy clear-history | r ihy invoke-history | cls clear clear-host
nsn new-pssession | etsn enter-pssession | exsn exit-pssession | rsn remove-pssession | gsn get-pssession
gwmi get-wmiobject | iwmi invoke-wmimethod | swmi set-wmiinstance | rwmi remove-wmiobject | gcim get-ciminstance
icim invoke-cimmethod | ncim new-ciminstance | rcim remove-ciminstance | scim set-ciminstance
rvpa resolve-path | cvpa convert-path | diff compare compare-object | sleep start-sleep | man help get-help
ndr mount new-psdrive | rdr remove-psdrive | gdr get-psdrive | gcb get-clipboard | scb set-clipboard
gin get-computerinfo | stz set-timezone | gtz get-timezone | trcm trace-command | shcm show-command
"""

ALIASES = {
    alias: names[-1]
    for group in _ALIASES.replace("\n", " | ").split("|")
    if (names := group.split())
    for alias in names
}

_VERBS = """
add approve assert backup block build checkpoint clear close compare complete compress confirm connect convert
convertfrom convertto copy debug deny deploy disable disconnect dismount edit enable enter exit expand export
find foreach format get grant group hide import initialize install invoke join limit lock measure merge mount
move new open optimize out ping pop protect publish push read receive redo register remove rename repair
request reset resize resolve restart restore resume revoke save search select send set show skip sort split
start step stop submit suspend switch sync tee test trace unblock undo uninstall unlock unprotect unpublish
unregister update use wait watch where write
"""

VERBS = frozenset(_VERBS.split())

SAME_TYPES = {
    "convert": "system.convert",
    "environment": "system.environment",
    "activator": "system.activator",
    "appdomain": "system.appdomain",
    "math": "system.math",
    "guid": "system.guid",
    "datetime": "system.datetime",
    "console": "system.console",
    "gc": "system.gc",
    "uri": "uri",
    "wmiclass": "system.management.managementclass",
    "wmi": "system.management.managementobject",
    "adsi": "system.directoryservices.directoryentry",
    "runtime.interopservices.marshal": "system.runtime.interopservices.marshal",
    "ref": "system.management.automation.psreference",
    "system.string": "string",
    "powershell": "system.management.automation.powershell",
}

METHODS = {
    "[system.io.file]::delete": "remove-item",
    "[system.io.directory]::delete": "remove-item",
    "[system.io.file]::writealltext": "set-content",
    "[system.io.file]::writeallbytes": "set-content",
    "[system.io.file]::writealllines": "set-content",
    "[system.io.file]::create": "new-item",
    "[system.io.file]::appendalltext": "add-content",
    "[system.io.file]::appendalllines": "add-content",
    "[system.io.file]::copy": "copy-item",
    "[system.io.file]::move": "move-item",
    "[system.io.directory]::move": "move-item",
    "[system.io.file]::readalltext": "get-content",
    "[system.io.file]::readallbytes": "get-content",
    "[system.io.file]::readalllines": "get-content",
    "[system.io.file]::openread": "get-content",
    "[system.io.directory]::createdirectory": "new-item",
    "[system.io.directory]::getfiles": "get-childitem",
    "[system.io.directory]::enumeratefiles": "get-childitem",
    "[system.diagnostics.process]::start": "start-process",
    "[system.io.compression.zipfile]::extracttodirectory": "expand-archive",
    "[system.io.compression.zipfile]::createfromdirectory": "compress-archive",
    "[microsoft.win32.registry]::setvalue": "set-itemproperty",
}
