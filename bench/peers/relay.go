// relay is a straightforward TCP relay: one goroutine per direction, with io.Copy.
//
//	relay sni PORT HOST BACKEND                       routes by SNI
//	relay terminate PORT HOST EDGE CERT KEY CA        terminates TLS and re-encrypts, like Steward's proxy on a worker
//
// The second mode opens one upstream connection per client connection. Unlike Steward's proxy it verifies the upstream.
package main

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"errors"
	"io"
	"log"
	"net"
	"os"
)

type halfCloser interface{ CloseWrite() error }

func main() {
	mode, port, host, upstream := os.Args[1], os.Args[2], os.Args[3], os.Args[4]
	var listener net.Listener
	var handle func(net.Conn) error
	var err error
	switch mode {
	case "sni":
		listener, err = net.Listen("tcp", "127.0.0.1:"+port)
		handle = func(client net.Conn) error { return route(client, host, upstream) }
	case "terminate":
		listener, handle, err = terminate(port, host, upstream, os.Args[5], os.Args[6], os.Args[7])
	default:
		err = errors.New("no mode " + mode)
	}
	if err != nil {
		log.Fatal(err)
	}
	for {
		client, err := listener.Accept()
		if err != nil {
			log.Fatal(err)
		}
		go func() {
			defer client.Close()
			if err := handle(client); err != nil {
				log.Print(err)
			}
		}()
	}
}

func terminate(port, host, edge, certFile, keyFile, caFile string) (net.Listener, func(net.Conn) error, error) {
	leaf, err := tls.LoadX509KeyPair(certFile, keyFile)
	if err != nil {
		return nil, nil, err
	}
	ca, err := os.ReadFile(caFile)
	if err != nil {
		return nil, nil, err
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(ca)
	listener, err := tls.Listen("tcp", "127.0.0.1:"+port, &tls.Config{Certificates: []tls.Certificate{leaf}})
	handle := func(client net.Conn) error {
		server, err := tls.Dial("tcp", edge, &tls.Config{ServerName: host, RootCAs: roots})
		if err != nil {
			return err
		}
		defer server.Close()
		join(client, server)
		return nil
	}
	return listener, handle, err
}

func route(client net.Conn, host, backend string) error {
	hello, name, err := readHello(client)
	if err != nil {
		return err
	}
	if name != host {
		return errors.New("no route for " + name)
	}
	server, err := net.Dial("tcp", backend)
	if err != nil {
		return err
	}
	defer server.Close()
	if _, err := server.Write(hello); err != nil {
		return err
	}
	join(client, server)
	return nil
}

// join copies in both directions until both have ended. Between two *net.TCPConn io.Copy uses splice(2).
func join(client, server net.Conn) {
	done := make(chan struct{})
	go func() {
		copyAndEnd(client, server)
		close(done)
	}()
	copyAndEnd(server, client)
	<-done
}

func copyAndEnd(to, from net.Conn) {
	io.Copy(to, from)
	if half, ok := to.(halfCloser); ok {
		half.CloseWrite()
	}
}

func readHello(client net.Conn) ([]byte, string, error) {
	bytes := make([]byte, 0, 4096)
	for len(bytes) < cap(bytes) {
		count, err := client.Read(bytes[len(bytes):cap(bytes)])
		if err != nil {
			return nil, "", err
		}
		bytes = bytes[:len(bytes)+count]
		if len(bytes) < 5 {
			continue
		}
		if end := 5 + int(binary.BigEndian.Uint16(bytes[3:])); len(bytes) >= end {
			name, err := serverName(bytes[5:end])
			return bytes, name, err
		}
	}
	return nil, "", errors.New("the hello is too long")
}

// serverName trusts the lengths in the hello. A wrong one panics and ends this peer, which is acceptable in the bench.
func serverName(hello []byte) (string, error) {
	at := 38
	at += 1 + int(hello[at])
	at += 2 + int(binary.BigEndian.Uint16(hello[at:]))
	at += 1 + int(hello[at]) + 2
	for at+4 <= len(hello) {
		kind, size := binary.BigEndian.Uint16(hello[at:]), int(binary.BigEndian.Uint16(hello[at+2:]))
		at += 4
		if kind == 0 {
			return string(hello[at+5 : at+size]), nil
		}
		at += size
	}
	return "", errors.New("a hello without a name")
}
