FROM scratch
RUN id
