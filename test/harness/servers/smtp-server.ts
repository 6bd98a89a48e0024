import { createServer, type Socket } from "node:net";

type ReceivedMail = { from: string; to: string[]; content: string };

export type SmtpServer = AsyncDisposable & {
  url: string;
  received: ReceivedMail[];
  /** The user and password of every sign-in. */
  logins: string[];
  /** Answers for the next mails instead of accepting them; `hang up` cuts the connection. */
  refuse(...answers: string[]): void;
  connectionCount(): number;
};

/** A small mail server with the part of RFC 5321 that a mail needs. */
export async function startSmtpServer({ user = "" }: { user?: string } = {}): Promise<SmtpServer> {
  const received: ReceivedMail[] = [];
  const logins: string[] = [];
  const refusals: string[] = [];
  const sockets = new Set<Socket>();
  let connections = 0;
  const server = createServer((socket) => {
    connections += 1;
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
    socket.on("error", () => {});
    converse(socket, { received, logins, refusals });
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  return {
    url: `smtp://${user === "" ? "" : `${user}:p%40ss@`}127.0.0.1:${address.port}`,
    received,
    logins,
    refuse: (...answers) => refusals.push(...answers),
    connectionCount: () => connections,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((closed) => server.close(closed));
    },
  };
}

type Books = { received: ReceivedMail[]; logins: string[]; refusals: string[] };

function converse(socket: Socket, { received, logins, refusals }: Books): void {
  let mail: ReceivedMail = { from: "", to: [], content: "" };
  let waiting = "";
  let isContent = false;
  const say = (line: string): void => void socket.write(`${line}\r\n`);

  function takeContent(): void {
    const end = waiting.indexOf("\r\n.\r\n");
    if (end === -1) return;
    mail.content = waiting.slice(0, end);
    waiting = waiting.slice(end + 5);
    isContent = false;
    received.push(mail);
    mail = { from: "", to: [], content: "" };
    say("250 taken");
  }

  function obey(line: string): void {
    const word = line.slice(0, 4).toUpperCase();
    if (word === "EHLO") say("250-test\r\n250-AUTH PLAIN\r\n250 SIZE 1000000");
    else if (word === "AUTH") {
      logins.push(
        Buffer.from(line.split(" ")[2] ?? "", "base64")
          .toString()
          .replaceAll("\0", " ")
          .trim(),
      );
      say("235 welcome");
    } else if (word === "MAIL") {
      const refusal = refusals.shift();
      if (refusal === "hang up") socket.destroy();
      else if (refusal !== undefined) say(refusal);
      else {
        mail.from = /<(.*?)>/.exec(line)?.[1] ?? "";
        say("250 fine");
      }
    } else if (word === "RCPT") {
      mail.to.push(/<(.*?)>/.exec(line)?.[1] ?? "");
      say("250 fine");
    } else if (word === "DATA") {
      isContent = true;
      say("354 go on");
    } else if (word === "QUIT") socket.end("221 bye\r\n");
    else say("250 fine");
  }

  say("220 test");
  socket.setEncoding("utf8").on("data", (piece: string) => {
    waiting += piece;
    for (;;) {
      if (isContent) {
        takeContent();
        if (isContent) return;
      }
      const end = waiting.indexOf("\r\n");
      if (end === -1) return;
      const line = waiting.slice(0, end);
      waiting = waiting.slice(end + 2);
      obey(line);
    }
  });
}
