"""The files of a wheel or an sdist, each with a hash of its content, as a JSON object."""

import hashlib
import json
import sys
import tarfile
import zipfile

[path] = sys.argv[1:]
if path.endswith(".whl"):
    with zipfile.ZipFile(path) as wheel:
        contents = {name: wheel.read(name) for name in wheel.namelist()}
else:
    with tarfile.open(path) as sdist:
        # Its names begin with a folder of the package's name and version.
        contents = {
            member.name.split("/", 1)[1]: sdist.extractfile(member).read() for member in sdist if member.isfile()
        }
print(json.dumps({name: hashlib.sha256(content).hexdigest() for name, content in contents.items()}))
