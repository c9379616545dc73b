/** A mail app of others, from npm and as it is, and what tests have it read and send. */
import type { MailServer } from './debian-servers.ts';

export const EMAIL_COMMAND = { command: 'npx', args: ['-y', '@codefuturist/email-mcp', 'stdio'] } as const;

export const EMAIL_ACCOUNT = {
  MCP_EMAIL_ADDRESS: 'me@example.org',
  MCP_EMAIL_PASSWORD: 'secret',
} as const;

/** The variables with which the app reaches the servers of a test. */
export function emailVariables({ imaps, smtps }: MailServer) {
  return {
    ...EMAIL_ACCOUNT,
    MCP_EMAIL_IMAP_HOST: '127.0.0.1',
    MCP_EMAIL_IMAP_PORT: String(imaps),
    MCP_EMAIL_SMTP_HOST: '127.0.0.1',
    MCP_EMAIL_SMTP_PORT: String(smtps),
    // The certificate is for a name.
    MCP_EMAIL_IMAP_VERIFY_SSL: 'false',
    MCP_EMAIL_SMTP_VERIFY_SSL: 'false',
  };
}

export const NEWEST_MAIL = `From: Ada <ada@example.org>
To: me@example.org
Subject: Friday
Date: Wed, 25 Nov 2026 10:00:00 +0000
Message-ID: <one@example.org>

Shall we meet on Friday at the blue heron?
`;

export const LIST_MAILS = { account: 'default' } as const;

/** Arguments of `send_email` that answer the newest mail. */
export const REPLY = {
  account: 'default',
  to: ['ada@example.org'],
  subject: 'Re: Friday',
  body: 'Friday works.',
} as const;
