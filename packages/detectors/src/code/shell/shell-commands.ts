/** What is known of the programs that shell commands start, by their names. */
import { byWord, wordSet } from '../../text/words.ts';
import { type Danger, dangersByName } from '../danger-table.ts';

/** Programs that are reported whatever their arguments. */
const ALWAYS = dangersByName([
  ['FILE_DELETE', 0.7, 'rm unlink rmdir'],
  ['DESTRUCTIVE', 0.95, 'shred wipe srm wipefs mkswap fdisk sfdisk gdisk sgdisk parted blkdiscard hdparm'],
  ['DESTRUCTIVE', 0.95, 'mkfs mke2fs mkfs.ext2 mkfs.ext3 mkfs.ext4 mkfs.xfs mkfs.btrfs mkfs.vfat mkfs.ntfs'],
  ['DESTRUCTIVE', 0.9, 'shutdown reboot halt poweroff'],
  ['PRIVILEGE', 0.85, 'sudo su doas pkexec gosu runuser chmod chown chgrp setfacl setcap chattr'],
  ['PRIVILEGE', 0.85, 'useradd usermod userdel groupadd adduser deluser passwd chpasswd visudo vipw'],
  ['PRIVILEGE', 0.85, 'mount umount insmod modprobe rmmod sysctl iptables ip6tables nft ufw firewall-cmd'],
  ['PRIVILEGE', 0.85, 'nsenter unshare chroot setenforce csrutil spctl dseditgroup'],
  ['NETWORK', 0.85, 'curl wget nc ncat netcat socat ssh scp sftp ftp tftp telnet lynx links w3m aria2c axel'],
  ['NETWORK', 0.85, 'http https httpie xh nmap masscan rclone sshpass autossh croc magic-wormhole wormhole'],
  ['NETWORK', 0.7, 'dig nslookup host ping ping6 traceroute mail mailx sendmail mutt swaks whois drill'],
  ['NETWORK', 0.7, 'ngrok cloudflared chisel proxychains tcpdump tshark hping3'],
  ['PERSISTENCE', 0.85, 'crontab at batch launchctl update-rc.d chkconfig rc-update'],
  ['NATIVE_CODE', 0.8, 'gdb lldb ld.so strace ltrace ptrace'],
  ['INSTALL', 0.85, 'npx uvx bunx pnpx dpkg rpm installer'],
  ['ENVIRONMENT', 0.7, 'printenv'],
]);

export function commandDanger(name: string): Danger | null {
  return ALWAYS.get(name) ?? (/^mkfs\./.test(name) ? { kind: 'DESTRUCTIVE', confidence: 0.95 } : null);
}

/** Programs that fetch what an address gives. */
export const FETCHERS = wordSet(`
  curl wget fetch aria2c axel lynx http https xh nc ncat netcat ftp tftp scp sftp rsync dig socat
`);

export const SHELLS = wordSet('sh bash dash zsh ksh ash fish rbash mksh csh tcsh pwsh powershell');

export interface Interpreter {
  /** Behind which its code stands. */
  readonly options: RegExp;
  readonly language: Language;
}

/** `other`: nobody here reads it. */
export type Language = 'shell' | 'python' | 'javascript' | 'other';

export const INTERPRETERS = byWord<Interpreter>([
  ['python python2 python3 pypy pypy3 ipython', { options: /^-[A-Za-z]*c$/, language: 'python' }],
  ['node nodejs bun deno', { options: /^(?:-e|-p|-pe|--eval|--print|eval)$/, language: 'javascript' }],
  ['perl ruby osascript lua tclsh Rscript elixir scala', { options: /^-[A-Za-z]*[eE]$/, language: 'other' }],
  ['php', { options: /^-r$/, language: 'other' }],
]);

/** A program that only starts another one. */
interface Wrapper {
  /** Its options that take a value. */
  readonly taking: RegExp;
  /** How many of its words stand before the command. */
  readonly own: number;
}

/** No option takes a value. */
const NONE = /(?!)/;

export const WRAPPERS = byWord<Wrapper>([
  ['nohup setsid command builtin busybox toybox unshare unbuffer torsocks', { taking: NONE, own: 0 }],
  ['gosu chroot faketime', { taking: NONE, own: 1 }],
  ['sudo', { taking: /^(?:-[ugpCThDR]|--user|--group|--prompt|--chdir|--host)$/, own: 0 }],
  ['doas', { taking: /^-[uC]$/, own: 0 }],
  ['pkexec', { taking: /^--user$/, own: 0 }],
  ['env', { taking: /^(?:-[uCS]|--unset|--chdir)$/, own: 0 }],
  ['time', { taking: /^-[fo]$/, own: 0 }],
  ['nice', { taking: /^(?:-n|--adjustment)$/, own: 0 }],
  ['ionice', { taking: /^-[cnp]$/, own: 0 }],
  ['timeout gtimeout', { taking: /^(?:-[sk]|--signal|--kill-after)$/, own: 1 }],
  ['stdbuf', { taking: /^-[ioe]$/, own: 0 }],
  ['exec', { taking: /^-a$/, own: 0 }],
  ['strace ltrace', { taking: /^-[eopsuaEIOPSX]$/, own: 0 }],
  ['nsenter', { taking: /^-[tSG]$/, own: 0 }],
  ['proxychains', { taking: /^-f$/, own: 0 }],
  ['sshpass', { taking: /^-[pfd]$/, own: 0 }],
  ['xargs', { taking: /^-[IiLnPsdaE]$/, own: 0 }],
  ['parallel', { taking: /^-[jIaNnL]$/, own: 0 }],
  ['watch', { taking: /^(?:-n|--interval)$/, own: 0 }],
  ['flock', { taking: /^-[wE]$/, own: 1 }],
  ['caffeinate', { taking: /^-[tw]$/, own: 0 }],
]);

/** Programs that decode or unpack what they are given. */
export const DECODING = wordSet(`
  base64 base32 basenc xxd openssl uudecode gunzip zcat gzip bzip2 bunzip2 xz unxz xzcat rev tr hexdump od
  gpg age zstd unzip iconv
`);

/** Programs that install with these words behind them. */
const INSTALLERS = byWord([
  [
    'pip pip2 pip3 pipx conda mamba gem cargo brew port apt apt-get yum',
    /^(?:install|reinstall|upgrade|run|i|localinstall)$/,
  ],
  ['dnf zypper snap flatpak choco winget scoop go apk pkg opam', /^(?:install|in|add|get|localinstall)$/],
  ['npm pnpm yarn bun uv poetry composer', /^(?:install|i|ci|add|exec|dlx|x|create|sync|require|pip)$/],
  ['pacman', /^-S[a-z]*$/],
]);

export function isInstalling(name: string, words: readonly (string | null)[]): boolean {
  const verb = INSTALLERS.get(name);
  return verb !== undefined && words.slice(0, 8).some((word) => word !== null && verb.test(word));
}

/** Variables that change what the next commands run. */
export const LOADED_VARIABLES = wordSet(`
  LD_PRELOAD LD_LIBRARY_PATH LD_AUDIT DYLD_INSERT_LIBRARIES BASH_ENV ENV PROMPT_COMMAND PYTHONSTARTUP
  PERL5OPT PERL5LIB RUBYOPT NODE_OPTIONS GIT_SSH_COMMAND GIT_EXTERNAL_DIFF GIT_PAGER PAGER EDITOR VISUAL
  BROWSER SHELLOPTS BASHOPTS PS4
`);

export function isCredentialVariable(name: string): boolean {
  return (
    /(?:^|_)(?:KEY|SECRET|TOKEN|PASSWORD|PASSWD|PASS|PWD|CREDENTIALS?|PAT)(?:$|_)|APIKEY/.test(name) &&
    name !== 'PWD' &&
    name !== 'OLDPWD'
  );
}
