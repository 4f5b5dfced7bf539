"""Draft: a folder beside a file, in which a run makes what becomes the file."""

# 1. The target is absent or a regular file; all else is refused before any work.
# 2. A folder `target.partial`, or `target.partial-1` and so on where that is in use, is
#    made and locked. Links and folders of other users are never entered.
# 3. The finished file gets the mode of the one that it replaces, and then its name.
# 4. The folder is removed, except where a later run may continue.
#
# The lock ends with the process, however that ends. So the next run takes over a folder
# that a killed run left, and there are never more of them than runs at one time.

import os
import stat
from contextlib import suppress
from itertools import count
from pathlib import Path

try:
    from fcntl import LOCK_EX, LOCK_NB, flock
except ImportError:  # Windows
    import msvcrt

IS_WINDOWS = os.name == "nt"
LOCK, JOURNAL = "sklboolean.lock", "journal.json"
KINDS = {stat.S_IFLNK: "a link", stat.S_IFDIR: "a folder", stat.S_IFIFO: "a FIFO"}


class Draft:
    """Files of one run, of which one becomes ``target`` when it is complete.

    Parameters
    ----------
    target : str or Path
        The file to make.
    name : str
        The argument that holds it, for messages.
    resume : bool
        Whether to use and to leave files that have a journal, which a later run can
        continue.
    """

    def __init__(self, target, name, *, resume=False):
        self.target, self.name, self.resume = as_path(target, name), name, resume

    def __enter__(self):
        self._status_of_target()
        for number in count():
            end = f".partial-{number}" if number else ".partial"
            self.folder = self.target.with_name(self.target.name + end)
            self._lock = lock_folder(self.folder)
            if self._lock is not None:
                break
            if self.resume:
                raise ValueError(
                    f"{self.folder} is in use by another run, or was not made by one. "
                    "Wait for the end of that run, or remove the folder."
                )
        self.journal = self.folder / JOURNAL
        self._clear()
        return self

    def __exit__(self, *error):
        if self._clear():
            if IS_WINDOWS:  # no open file is removed there
                self._lock.close()
            (self.folder / LOCK).unlink(missing_ok=True)
            with suppress(OSError):  # another run has just taken it over
                self.folder.rmdir()
        self._lock.close()

    def _clear(self):
        """Remove the files, unless a run is to continue them."""
        if self.resume and self.journal.exists():
            return False
        for file in self.folder.iterdir():
            if file.name != LOCK:
                file.unlink()
        return True

    def _status_of_target(self):
        """Return the status of the file to replace, or None."""
        if not self.target.parent.is_dir():
            raise ValueError(
                f"{self.name}={str(self.target)!r} must be a file in a folder there is."
            )
        try:
            status = self.target.lstat()
        except FileNotFoundError:
            return None
        if not stat.S_ISREG(status.st_mode):
            kind = KINDS.get(stat.S_IFMT(status.st_mode), "a device or a socket")
            raise ValueError(
                f"{self.name}={str(self.target)!r} is {kind}, and only a regular file "
                "is replaced. Pass the path of a file."
            )
        return status

    def open(self, name):
        """Open a file of the draft to read and write it; it is made if need be."""
        return open(self.folder / name, "r+b", opener=open_file)

    def complete(self, name):
        """Make a file of the draft the target, with the mode of what was there."""
        status, file = self._status_of_target(), self.folder / name
        with self.open(name) as opened:
            os.fsync(opened.fileno())
        if status is not None:
            # The mode is meant for the owner and the group of the file.
            for owner in () if IS_WINDOWS else (-1, status.st_uid):
                with suppress(OSError):  # not allowed
                    os.chown(file, owner, status.st_gid)
            file.chmod(stat.S_IMODE(status.st_mode))
        # Without a journal no later run takes the rest for the beginning of a table.
        self.journal.unlink(missing_ok=True)
        os.replace(file, self.target)


def as_path(path, name):
    """Make a Path of an argument."""
    if not isinstance(path, str | os.PathLike) or isinstance(os.fspath(path), bytes):
        raise ValueError(
            f"{name} must be a path, a str or Path; got a {type(path).__name__}."
        )
    return Path(path)


def open_file(file, flags):
    """Open or make a file, but not what a link points to."""
    return os.open(file, flags | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o666)


def lock_folder(folder):
    """Make or take over the folder of a draft; return its lock, an open file.

    None: another run has the lock, or the folder is not one of this user's drafts.
    """
    try:
        folder.mkdir(0o700)
        is_new = True
    except FileExistsError:
        is_new = False
    with suppress(FileNotFoundError):  # a run that ended has just removed it
        if is_draft(folder):
            lock = open(folder / LOCK, "r+b", opener=open_file)
            if is_locked(lock, is_new) and os.fstat(lock.fileno()).st_nlink:
                return lock
            lock.close()
    return None


def is_draft(folder):
    """Test for a folder of this user, empty or with a lock and other plain files."""
    status = folder.lstat()
    is_own = IS_WINDOWS or status.st_uid == os.geteuid()
    if not (stat.S_ISDIR(status.st_mode) and is_own):
        return False
    modes = {file.name: file.lstat().st_mode for file in folder.iterdir()}
    return (not modes or LOCK in modes) and all(map(stat.S_ISREG, modes.values()))


def is_locked(lock, is_new):
    """Lock an open file, or tell that another process has locked it."""
    try:
        if IS_WINDOWS:
            msvcrt.locking(lock.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            flock(lock.fileno(), LOCK_EX | LOCK_NB)
    except (BlockingIOError, PermissionError):
        return False
    except OSError:  # a file system without locks: a run has the folders it made
        return is_new
    return True
