// Lets a server of node listen on a free port of this machine alone, and print it.
import net from "node:net";

const listen = net.Server.prototype.listen;
net.Server.prototype.listen = function (_port, listening) {
  return listen.call(this, 0, "127.0.0.1", () => {
    console.error(`port ${this.address().port}`);
    listening();
  });
};
