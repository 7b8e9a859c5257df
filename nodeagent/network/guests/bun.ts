// Declares the parts of Bun that the guest services use. Only the compiled agent has these parts, and Deno's types lack
// them.

export type UdpSocket = {
  send(data: Uint8Array, port: number, address: string): boolean;
  close(): void;
};
export type TcpSocket = {
  readonly remoteAddress: string;
  /** Returns how many bytes the kernel took; -1 if the connection has ended. Bun drops the other bytes. */
  write(data: Uint8Array): number;
  /** Ends the connection. The guest still gets the bytes that the kernel took. */
  end(): void;
  /** Ends the connection at once. */
  terminate(): void;
  /** Calls the handler `timeout` once, after this number of seconds. */
  timeout(seconds: number): void;
  data: TcpState;
};
export type TcpState = {
  /** The bytes that came on a connection and are not handled yet. */
  received: Uint8Array;
  /** The bytes that the kernel did not take yet. */
  unsent: Uint8Array;
};
export type Listener = { stop(closeActiveConnections?: boolean): void };
export type HttpServer = Listener & {
  requestIP(request: Request): { readonly address: string } | null;
};

export type Bun = {
  udpSocket(options: {
    readonly hostname: string;
    readonly port: number;
    readonly socket: {
      data(socket: UdpSocket, data: Uint8Array, port: number, address: string): void;
      error?(socket: UdpSocket, error: Error): void;
    };
  }): Promise<UdpSocket>;
  listen(options: {
    readonly hostname: string;
    readonly port: number;
    readonly socket: {
      open(socket: TcpSocket): void;
      data(socket: TcpSocket, data: Uint8Array): void;
      /** Called when the kernel takes bytes again. */
      drain(socket: TcpSocket): void;
      timeout(socket: TcpSocket): void;
      close(socket: TcpSocket): void;
      error?(socket: TcpSocket, error: Error): void;
    };
  }): Listener;
  serve(options: {
    readonly hostname: string;
    readonly port: number;
    readonly maxRequestBodySize: number;
    readonly idleTimeout: number;
    /** If this were true, the answer to an error would contain parts of the program's source. */
    readonly development: false;
    fetch(request: Request, server: HttpServer): Response | Promise<Response>;
  }): HttpServer;
};

/** A function of a C library that takes numbers and buffers. */
export type ForeignFunction = (...given: readonly (number | ArrayBufferView)[]) => number;

export type ForeignFunctions = {
  dlopen<Name extends string>(
    library: string,
    symbols: Readonly<Record<Name, { readonly args: readonly string[]; readonly returns: string }>>,
  ): { readonly symbols: Readonly<Record<Name, ForeignFunction>> };
  /** Returns the address of a buffer, which must stay referenced while the address is used. */
  ptr(buffer: ArrayBufferView): number;
};

/** Returns Bun; null under another runtime. */
export function bunOf(): Bun | null {
  return (globalThis as { readonly Bun?: Bun }).Bun ?? null;
}

/**
 * Loads Bun's foreign functions. The module's name is computed, because Deno's tools would fail to resolve a literal
 * name.
 */
export async function foreignFunctions(): Promise<ForeignFunctions> {
  return await import(["bun", "ffi"].join(":")) as ForeignFunctions;
}
